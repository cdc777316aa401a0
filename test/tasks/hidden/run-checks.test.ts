import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {chmod, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {clearCopies, runHiddenChecks} from '../../../src/tasks/hidden/run-checks.js'
import {openTestOrchestrator, type TestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {needsRoot, otherUser, userFolder} from './hidden-workspace.js'

const table = '[[orchestrator.harness.hidden_checks]]\n'

async function open(
  t: TestContext,
  toml: (folder: string) => string,
  files: Readonly<Record<string, string>> = {},
  own = '',
): Promise<TestOrchestrator> {
  const {userConfig} = await userFolder(t, files, toml)
  return openTestOrchestrator(t, {userConfig, toml: own})
}

const run = (orchestrator: TestOrchestrator, signal = new AbortController().signal) =>
  runHiddenChecks(orchestrator, orchestrator.hiddenChecks ?? assert.fail('there are none'), signal)

const copiesOf = async ({repositoryId}: TestOrchestrator) =>
  (await readdir(tmpdir())).filter((name) => name.startsWith(`svc-check-${repositoryId}-`))

describe('hidden checks', () => {
  it('run on a copy, without the folder of svc, and leave nothing behind', async (t) => {
    const script =
      'test -e a.txt && test -L link && test ! -e .svc && rm a.txt && echo $PWD > "{files}/seen"; pwd; exit 3'
    const orchestrator = await open(t, () => `${table}command = ["sh", "-c", '''${script}''']\n`)
    await writeFile(join(orchestrator.root, 'a.txt'), 'kept')
    await symlink('a.txt', join(orchestrator.root, 'link'))
    const locked = join(orchestrator.root, 'locked')
    await mkdir(locked)
    await writeFile(join(locked, 'b.txt'), '')
    await chmod(locked, 0o555)
    const [result] = await run(orchestrator)
    await chmod(locked, 0o755)
    assert.equal(result?.reason, 'it exited with status 3')
    assert.match(result?.output ?? '', /svc-check-/)
    assert.equal(await readFile(join(orchestrator.root, 'a.txt'), 'utf8'), 'kept')
    assert.deepEqual(await copiesOf(orchestrator), [])
  })

  it('pass if each program succeeds', async (t) => {
    const toml = (folder: string) => `${table}files = ["${folder}/a.sh", "${folder}/b.sh"]\n`
    const files = {'a.sh': '#!/bin/sh\ntest -e done.txt\n', 'b.sh': '#!/bin/sh\ntest ! -e bad.txt\n'}
    const orchestrator = await open(t, toml, files)
    assert.deepEqual(await run(orchestrator), [
      {position: 1, passed: false, reason: 'it exited with status 1', output: ''},
    ])
    await writeFile(join(orchestrator.root, 'done.txt'), '')
    assert.deepEqual(await run(orchestrator), [{position: 1, passed: true}])
    await writeFile(join(orchestrator.root, 'bad.txt'), '')
    assert.equal((await run(orchestrator))[0]?.passed, false)
  })

  it('are as they were read, and each has a new copy', async (t) => {
    const toml = (folder: string) =>
      `${table}command = ["sh", "-c", "touch left.txt"]\n${table}files = ["${folder}/a.sh"]\n`
    const {folder, userConfig} = await userFolder(t, {'a.sh': '#!/bin/sh\ntest ! -e left.txt && test -e x.txt\n'}, toml)
    const orchestrator = await openTestOrchestrator(t, {userConfig})
    await writeFile(join(folder, 'a.sh'), '#!/bin/sh\nexit 0\n')
    assert.deepEqual(
      (await run(orchestrator)).map(({passed}) => passed),
      [true, false],
    )
    await writeFile(join(orchestrator.root, 'x.txt'), '')
    assert.deepEqual(
      (await run(orchestrator)).map(({passed}) => passed),
      [true, true],
    )
  })

  it('fail if they cannot run, and the rest does not run', async (t) => {
    const orchestrator = await open(t, () => `${table}command = ["no-such-program"]\n${table}command = ["true"]\n`)
    const results = await run(orchestrator)
    assert.deepEqual(
      results.map(({passed}) => passed),
      [false],
    )
  })

  it('fail after the time limit of commands', async (t) => {
    const own = '[orchestrator.exec]\ntimeout_ms = 100\n'
    const orchestrator = await open(t, () => `${table}command = ["sleep", "60"]\n`, {}, own)
    assert.equal((await run(orchestrator))[0]?.reason, 'it timed out after 100 ms')
  })

  it('keep the output that commands may have', async (t) => {
    const own = '[orchestrator.exec]\nmax_output_bytes = 100\n'
    const orchestrator = await open(t, () => `${table}command = ["sh", "-c", "seq 100000; exit 1"]\n`, {}, own)
    const [result] = await run(orchestrator)
    assert.ok((result?.output ?? '').length < 200)
    assert.match(result?.output ?? '', /100000\n$/)
  })

  it('inherit no variables but a few harmless ones', async (t) => {
    process.env.SVC_TEST_LEAK = 'leak'
    t.after(() => {
      delete process.env.SVC_TEST_LEAK
    })
    const orchestrator = await open(t, () => `${table}command = ["sh", "-c", "env; exit 1"]\n`)
    assert.doesNotMatch((await run(orchestrator))[0]?.output ?? '', /SVC_TEST_LEAK/)
  })

  it('end when they are aborted', async (t) => {
    const orchestrator = await open(t, () => `${table}command = ["sleep", "60"]\n`)
    const controller = new AbortController()
    const running = run(orchestrator, controller.signal)
    controller.abort(new Error('stopped'))
    await assert.rejects(running, /stopped/)
    assert.deepEqual(await copiesOf(orchestrator), [])
  })

  it('of a killed daemon are ended and removed', async (t) => {
    const orchestrator = await open(t, () => `${table}command = ["true"]\n`)
    const left = join(tmpdir(), `svc-check-${orchestrator.repositoryId}-left`)
    await mkdir(join(left, 'inner/work/deep'), {recursive: true})
    await mkdir(join(left, 'inner/files'))
    const child = spawn('sleep', ['60'], {env: {SVC_CHECK_OF: orchestrator.repositoryId, PATH: process.env.PATH}})
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    await clearCopies(orchestrator)
    assert.deepEqual(await copiesOf(orchestrator), [])
    assert.equal((await ended)[1], 'SIGKILL')
  })
})

describe('hidden checks as another user', {skip: needsRoot}, () => {
  it('run the code of the worker without the rights of the daemon', async (t) => {
    const script = 'id -un; env; stat -c "%a %U" "{files}" . ; echo more >> a.txt && touch "{files}/x"; exit 5'
    const toml = (folder: string) =>
      `[orchestrator.exec]\nuser = "${otherUser}"\n${table}command = ["sh", "-c", '''${script}''']\nfiles = ["${folder}/cases.txt"]\n`
    const {userConfig} = await userFolder(t, {'cases.txt': ''}, toml)
    const orchestrator = await openTestOrchestrator(t, {userConfig})
    await writeFile(join(orchestrator.root, 'a.txt'), '')
    await chmod(orchestrator.root, 0o755)
    const [result] = await run(orchestrator)
    assert.match(result?.output ?? '', new RegExp(`^${otherUser}\n`))
    assert.match(result?.output ?? '', new RegExp(`\n750 root\n700 ${otherUser}\n`))
    assert.doesNotMatch(result?.output ?? '', /^HOME=/m)
    assert.match(result?.output ?? '', /touch: .*denied/)
    assert.equal(result?.reason, 'it exited with status 5')
    assert.deepEqual(await copiesOf(orchestrator), [])
  })

  it('refuse a workspace that the user cannot read', async (t) => {
    const toml = () => `[orchestrator.exec]\nuser = "${otherUser}"\n${table}command = ["true"]\n`
    const orchestrator = await open(t, toml)
    await writeFile(join(orchestrator.root, 'a.txt'), '')
    await chmod(orchestrator.root, 0o755)
    await chmod(join(orchestrator.root, 'a.txt'), 0o600)
    assert.match((await run(orchestrator))[0]?.reason ?? '', /the workspace cannot be copied/)
    await chmod(join(orchestrator.root, 'a.txt'), 0o644)
    assert.deepEqual(await run(orchestrator), [{position: 1, passed: true}])
  })

  it('are refused if there is no such user', async (t) => {
    const toml = () => `[orchestrator.exec]\nuser = "no-such-user"\n${table}command = ["true"]\n`
    await assert.rejects(open(t, toml), {code: 'exec_user_unusable'})
  })
})
