import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, rename, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {openEventLog} from '../../src/cli/event-log.js'
import type {EventRecord} from '../../src/tasks/index.js'
import {temporaryFolder} from '../support/temporary.js'

const event = (id: number) =>
  ({id, kind: {type: 'config_reloaded', changed: []}, timestamp_ms: 0}) as unknown as EventRecord

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
    await writeFile(`${path}.3`, '')
    const warnings: string[] = []
    const log = openEventLog(path, (text) => warnings.push(text), 1)
    for (let id = 1; id <= 3; id++) log.append([event(id)])
    log.close()
    assert.equal((await readFile(path, 'utf8')).split('\n').length, 4)
    assert.match(warnings.join(), /^\S+ is large and cannot be renamed: [^,]+, rename '\S+' -> '\S+'$/)
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
