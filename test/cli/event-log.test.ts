import assert from 'node:assert/strict'
import {spawn, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {mkdir, readdir, readFile, rename, symlink, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {openEventLog} from '../../src/cli/event-log.js'
import type {EventRecord} from '../../src/tasks/index.js'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

const event = (id: number) =>
  ({id, kind: {type: 'config_reloaded', changed: []}, timestamp_ms: 0}) as unknown as EventRecord

const eventsPerRound = 100

/** Starts a process that appends to one log after another, and reports the half of its rounds. */
function startWriter(
  test: TestContext,
  {folder, name, maxBytes, rounds}: {folder: string; name: string; maxBytes: number; rounds: number},
) {
  const script = `
import {openEventLog} from ${JSON.stringify(projectFile('dist/src/cli/event-log.js'))}
for (let round = 0; round < ${rounds}; round++) {
  const log = openEventLog(${JSON.stringify(folder)} + '/log' + round, (text) => console.error(text), ${maxBytes})
  for (let id = 1; id <= ${eventsPerRound}; id++) log.append([{id, name: '${name}'}])
  log.close()
  if (round === ${rounds / 2}) console.log(round)
}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {stdio: ['ignore', 'pipe', 'pipe']})
  test.after(() => child.kill('SIGKILL'))
  return child
}

describe('the event log', () => {
  it('is renamed when it becomes too large, and loses only events of the oldest file', async (t) => {
    const path = join(await temporaryFolder(t), 'events.jsonl')
    const log = openEventLog(path, assert.fail, 1)
    for (let id = 1; id <= 7; id++) log.append([event(id)])
    log.close()
    const ids = async (file: string) => (JSON.parse(await readFile(file, 'utf8')) as {id: number}).id
    const files = [path, ...[1, 2, 3, 4].map((i) => `${path}.${i}`)]
    assert.deepEqual(await Promise.all(files.map(ids)), [7, 6, 5, 4, 3])
  })

  it('does not rename the file that replaced a moved one', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'events.jsonl')
    const log = openEventLog(path, assert.fail, 1)
    log.append([event(1)])
    await rename(path, join(folder, 'moved.jsonl'))
    log.append([event(2)])
    log.close()
    assert.deepEqual((await readdir(folder)).sort(), ['events.jsonl', 'moved.jsonl'])
  })

  it('appends to the large file if that cannot be renamed, and says so once', async (t) => {
    const path = join(await temporaryFolder(t), 'events.jsonl')
    await mkdir(`${path}.4`)
    for (const i of [1, 2, 3]) await writeFile(`${path}.${i}`, '')
    const warnings: string[] = []
    const log = openEventLog(path, (text) => warnings.push(text), 1)
    for (let id = 1; id <= 3; id++) log.append([event(id)])
    log.close()
    assert.equal((await readFile(path, 'utf8')).split('\n').length, 4)
    assert.match(warnings.join(), /^\S+ is large and cannot be renamed: [^,]+, rename '\S+' -> '\S+'$/)
  })

  it('loses no event and no file when two processes share it and one is killed', async (t) => {
    const folder = await temporaryFolder(t)
    const rounds = 20
    // Both write less than the kept files hold, so that nothing may be deleted.
    const maxBytes = 2000
    const [killed, whole] = ['a', 'b'].map((name) => startWriter(t, {folder, name, maxBytes, rounds}))
    assert.ok(killed && whole)
    const ended = once(whole, 'exit')
    await once(killed.stdout, 'data')
    killed.kill('SIGKILL')
    const [status] = await ended
    assert.deepEqual([status, whole.stderr.read()], [0, null])
    for (let round = 0; round < rounds; round++) {
      const path = join(folder, `log${round}`)
      const files = [...[4, 3, 2, 1].map((i) => `${path}.${i}`), path].filter((file) => existsSync(file))
      const lines = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('').trimEnd().split('\n')
      const written = lines.map((line) => JSON.parse(line) as {id: number; name: string})
      for (const name of ['a', 'b']) {
        const ids = written.filter((each) => each.name === name).map(({id}) => id)
        assert.deepEqual(
          ids,
          Array.from(ids, (_, i) => i + 1),
          `${name} in ${path}`,
        )
        if (name === 'b') assert.equal(ids.length, eventsPerRound)
      }
    }
  })

  for (const [what, holder] of [
    ['that has ended', () => spawnSync(process.execPath, ['--version']).pid],
    ['whose id another one has now', () => process.pid],
    ['that was killed before it wrote its id', () => ''],
  ] as const)
    it(`continues the rotation of a process ${what}`, async (t) => {
      const folder = await temporaryFolder(t)
      const path = join(folder, 'events.jsonl')
      const log = openEventLog(path, assert.fail, 1)
      log.append([event(1)])
      // The oldest file, a gap, and the lock of the process.
      await writeFile(`${path}.4`, 'oldest')
      await writeFile(`${path}.lock`, String(holder()))
      if (what !== 'that has ended') await utimes(`${path}.lock`, 0, 0)
      for (let id = 2; id <= 4; id++) log.append([event(id)])
      log.close()
      assert.equal(await readFile(`${path}.4`, 'utf8'), 'oldest')
      assert.deepEqual((await readdir(folder)).sort(), ['events.jsonl', ...[1, 2, 4].map((i) => `events.jsonl.${i}`)])
    })

  it('does not rename a link', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'link')
    await symlink(join(folder, 'events.jsonl'), path)
    const log = openEventLog(path, assert.fail, 1)
    for (let id = 1; id <= 3; id++) log.append([event(id)])
    log.close()
    assert.deepEqual((await readdir(folder)).sort(), ['events.jsonl', 'link'])
  })
})
