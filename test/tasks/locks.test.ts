import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {reportStatus, spawnAgent} from '../../src/orchestrator/index.js'
import {cancelTask, doubtTask, requireTask, retireAgent, takeClaim} from '../../src/tasks/index.js'
import {sweepLocks} from '../../src/tasks/locks.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {
  acceptTask,
  claimOf,
  complete,
  fail,
  runAll,
  start,
  startOne,
  statusOf,
  submit,
  submitWriter,
} from '../orchestrator/support/tasks.js'

const lockedPaths = ({store}: TestOrchestrator) =>
  store.all<{path: string}>('SELECT path FROM orch_locks ORDER BY path, task_id').map(({path}) => path)

/** A workspace with two agents. Submits a task for one of them on a file with an access mode. */
async function twoAgents(t: {after(work: () => void): void}, options = {}) {
  const orchestrator = await openTestOrchestrator(t, options)
  const one = spawnAgent(orchestrator, {name: 'one'}).id
  const two = spawnAgent(orchestrator, {name: 'two'}).id
  const use = (agent: 'one' | 'two', access: 'read' | 'write', path = 'a.ts') =>
    submit(orchestrator, {target_agent: agent, file_manifest: [{path, access}]})
  return {orchestrator, one, two, use}
}

describe('a file written by a task', () => {
  it('rejects a writer of another agent', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    use('one', 'write')
    const before = contents(orchestrator)
    const {params, message} = refused('lock_conflict', () => use('two', 'write'))
    assert.deepEqual(params, {path: 'a.ts', holder: 'one', kind: 'exclusively_held'})
    assert.ok(message.includes('a.ts is locked by a task of one'))
    assert.deepEqual(contents(orchestrator), before)
  })

  it('accepts the same agent again while its task waits', async (t) => {
    const {orchestrator, one, use} = await twoAgents(t)
    const tasks = [use('one', 'write'), use('one', 'write'), use('one', 'read')]
    assert.deepEqual(runAll(orchestrator, one), tasks)
  })

  it('accepts the same agent again while its task runs', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    start(orchestrator, use('one', 'write'))
    assert.equal(statusOf(orchestrator, use('one', 'write')), 'Queued')
  })

  it('has one running task even if clients run several tasks of one agent', async (t) => {
    const {orchestrator} = await twoAgents(t)
    const manifest = {processor: 'external', target_agent: 'one'} as const
    const first = submitWriter(orchestrator, ['a.ts'], manifest)
    const second = submitWriter(orchestrator, ['a.ts'], manifest)
    assert.equal(takeClaim(orchestrator, {owner: 'x'}).task.id, first)
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'y'}))
    acceptTask(orchestrator, first, undefined, claimOf(orchestrator, first))
    orchestrator.clock.ms += 1000
    assert.equal(takeClaim(orchestrator, {owner: 'y'}).task.id, second)
  })

  it('is not read by another agent while the task runs', async (t) => {
    const {orchestrator, one, two, use} = await twoAgents(t)
    const writer = use('one', 'write')
    const reader = use('two', 'read')
    assert.equal(startOne(orchestrator, one), writer)
    assert.equal(startOne(orchestrator, two), undefined)
    acceptTask(orchestrator, writer, undefined, claimOf(orchestrator, writer))
    orchestrator.clock.ms += 1000
    assert.equal(startOne(orchestrator, two), reader)
  })
})

describe('a file read by tasks', () => {
  it('is shared by readers of several agents', async (t) => {
    const {orchestrator, one, two, use} = await twoAgents(t)
    const readers = [use('one', 'read'), use('two', 'read')]
    assert.deepEqual([startOne(orchestrator, one), startOne(orchestrator, two)], readers)
  })

  it('rejects a writer of another agent while it is read', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    start(orchestrator, use('one', 'read'))
    assert.deepEqual(refused('lock_conflict', () => use('two', 'write')).params, {
      path: 'a.ts',
      holder: 'one',
      kind: 'shared_readers_exist',
    })
  })

  it('can be written by its only reader', async (t) => {
    const {orchestrator, one, use} = await twoAgents(t)
    const reader = use('one', 'read')
    const writer = use('one', 'write')
    assert.equal(startOne(orchestrator, one), reader)
    acceptTask(orchestrator, reader, undefined, claimOf(orchestrator, reader))
    assert.equal(startOne(orchestrator, one), writer)
  })

  it('is written by a task that reads and writes it', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    const file_manifest = ['read', 'write', 'read'].map((access) => ({path: 'a.ts', access}))
    const id = submit(orchestrator, {target_agent: 'one', file_manifest})
    assert.deepEqual(requireTask(orchestrator, id).file_manifest, [{path: 'a.ts', access: 'write'}])
    refused('lock_conflict', () => use('two', 'write'))
  })
})

describe('the locks of a task', () => {
  const endings: readonly (readonly [string, (o: TestOrchestrator, id: number) => unknown, boolean])[] = [
    ['completed', (o, id) => complete(o, id), true],
    ['failed', (o, id) => fail(o, id), false],
    ['cancelled', (o, id) => cancelTask(o, id), false],
    ['cancelled while it runs', (o, id) => cancelTask(o, start(o, id)), false],
    ['doubted', (o, id) => doubtTask(o, id), true],
    ['doubted and then cancelled', (o, id) => cancelTask(o, doubtTask(o, id).id), false],
  ]
  for (const [how, end, keepsAffinity] of endings)
    it(`that is ${how} are released, and its agent ${keepsAffinity ? 'keeps' : 'loses'} its files`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      end(orchestrator, submitWriter(orchestrator, ['a.ts', 'b.ts']))
      assert.deepEqual(lockedPaths(orchestrator), [])
      assert.equal(
        reportStatus(orchestrator).agents.find(({name}) => name === 'core')?.owned_files,
        keepsAffinity ? 2 : 0,
      )
    })

  it('are acquired all or none, even if a submission is rejected halfway', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    use('one', 'write', 'c.ts')
    const before = contents(orchestrator)
    refused('lock_conflict', () => submitWriter(orchestrator, ['a.ts', 'b.ts', 'c.ts'], {target_agent: 'new'}))
    assert.deepEqual(contents(orchestrator), before)
    submitWriter(orchestrator, ['a.ts', 'b.ts'], {target_agent: 'two'})
  })

  it('move with its agent', async (t) => {
    const {orchestrator} = await twoAgents(t)
    const id = submitWriter(orchestrator, ['a.ts'], {target_agent: 'one'})
    start(orchestrator, id)
    retireAgent(orchestrator, 'one')
    const {agent_name, agent_id} = requireTask(orchestrator, id)
    assert.equal(agent_name, 'two')
    assert.deepEqual(orchestrator.store.all('SELECT agent_id FROM orch_locks'), [{agent_id}])
    assert.deepEqual(orchestrator.store.all('SELECT agent_id FROM orch_affinity'), [{agent_id}])
    start(orchestrator, id)
  })

  for (const [timeoutMs, isFree] of [
    [30_000, false],
    [1000, true],
  ] as const)
    it(`waiting in a queue ${isFree ? 'are' : 'are not'} released after 2 seconds if lock_timeout_ms is ${timeoutMs}`, async (t) => {
      const {orchestrator, use} = await twoAgents(t, {toml: `[orchestrator]\nlock_timeout_ms = ${timeoutMs}\n`})
      use('one', 'write')
      orchestrator.clock.ms += 2000
      if (isFree) assert.equal(statusOf(orchestrator, use('two', 'write')), 'Queued')
      else refused('lock_conflict', () => use('two', 'write'))
      assert.equal(sweepLocks(orchestrator), isFree ? 1 : 0)
    })

  it('are never swept while it runs', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    const id = start(orchestrator, use('one', 'write'))
    orchestrator.clock.ms += 86_400_000
    assert.equal(sweepLocks(orchestrator), 0)
    refused('lock_conflict', () => use('two', 'write'))
    acceptTask(orchestrator, id, undefined, claimOf(orchestrator, id))
    use('two', 'write')
  })

  it('are acquired again when it runs if they were swept', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    const id = use('one', 'write')
    orchestrator.clock.ms += 60_000
    assert.equal(sweepLocks(orchestrator), 1)
    start(orchestrator, id)
    assert.deepEqual(lockedPaths(orchestrator), ['a.ts'])
    refused('lock_conflict', () => use('two', 'write'))
  })

  it('expire in time even if the clock was set back', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    use('one', 'write')
    orchestrator.clock.ms -= 3_600_000
    sweepLocks(orchestrator)
    orchestrator.clock.ms += 60_000
    sweepLocks(orchestrator)
    assert.equal(statusOf(orchestrator, use('two', 'write')), 'Queued')
  })

  it('do not block tasks without files', async (t) => {
    const {orchestrator, two, use} = await twoAgents(t)
    start(orchestrator, use('one', 'write'))
    for (let i = 0; i < 100; i++) use('two', 'read')
    const free = submit(orchestrator, {target_agent: 'two'})
    const looks = [1, 2, 3].map(() => startOne(orchestrator, two))
    assert.ok(looks.includes(free), 'the task without files was never started')
  })

  it('appear in the status: locked files and tasks that wait for them', async (t) => {
    const {orchestrator, use} = await twoAgents(t)
    use('two', 'read')
    start(orchestrator, use('one', 'write'))
    submitWriter(orchestrator, ['b.ts'])
    const {locked_files, total_contention} = reportStatus(orchestrator)
    assert.deepEqual({locked_files, total_contention}, {locked_files: 2, total_contention: 1})
  })
})

describe('a manifest', () => {
  it('can list at most 10,000 files', async (t) => {
    const {orchestrator} = await twoAgents(t)
    const paths = Array.from({length: 10_001}, (_, i) => `src/${i % 100}/${i}.ts`)
    const id = submitWriter(orchestrator, paths.slice(0, 10_000), {target_agent: 'one'})
    assert.equal(lockedPaths(orchestrator).length, 10_000)
    const {params} = refused('lock_conflict', () =>
      submitWriter(orchestrator, paths.slice(9999, 10_000), {target_agent: 'two'}),
    )
    assert.equal(params.path, 'src/99/9999.ts')
    complete(orchestrator, id)
    assert.deepEqual(lockedPaths(orchestrator), [])
    refused('task_invalid', () => submitWriter(orchestrator, paths))
  })

  const escapes = [
    '..',
    '../x',
    'a/../../b',
    '/etc/passwd',
    '',
    ' ',
    '.',
    'a/..',
    './',
    'a\0b',
    'C:\\x',
    'c:/x',
    'x'.repeat(4097),
  ]
  for (const path of escapes)
    it(`is rejected with the path ${JSON.stringify(path.slice(0, 20))}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      for (const access of ['read', 'write'])
        refused('task_path_escapes', () => submit(orchestrator, {file_manifest: [{path, access}]}))
      assert.equal(reportStatus(orchestrator).total_queued, 0)
    })

  it('accepts names that only look like a path outside', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const path of ['..a', '...', 'a/..b/c', 'C', 'ä/ö.ts', 'a b', '[x]*?'])
      assert.deepEqual(requireTask(orchestrator, submitWriter(orchestrator, [path])).file_manifest, [
        {path, access: 'write'},
      ])
  })

  it('recognises all spellings of one path', async (t) => {
    const {orchestrator} = await twoAgents(t)
    const spellings = [
      'src/a.ts',
      './src/a.ts',
      'src//a.ts',
      'src/./a.ts',
      'src/b/../a.ts',
      join(orchestrator.root, 'src/a.ts'),
    ]
    const id = submitWriter(orchestrator, spellings, {target_agent: 'one'})
    assert.deepEqual(requireTask(orchestrator, id).file_manifest, [{path: 'src/a.ts', access: 'write'}])
    for (const path of spellings)
      refused('lock_conflict', () => submitWriter(orchestrator, [path], {target_agent: 'two'}))
  })
})
