import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {setImmediate} from 'node:timers/promises'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import type {DaemonOptions} from '../../src/scheduler/index.js'
import {ScriptedProcessor, startDaemon} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {projectFile} from '../support/project.js'
import {until} from '../support/until.js'

const never = {pollMs: 3_600_000, tickMs: 3_600_000}

/** Counts the rounds of a daemon, which begin with a check for changes, and its transactions. */
function count({store}: Orchestrator) {
  const {get, transaction} = store
  const counts = {rounds: 0, transactions: 0}
  store.get = (sql, params) => {
    if (sql === 'PRAGMA data_version') counts.rounds++
    return get(sql, params)
  }
  store.transaction = (work) => {
    counts.transactions++
    return transaction(work)
  }
  return counts
}

async function running(t: TestContext, options: Partial<DaemonOptions>) {
  const context = await openTestOrchestrator(t, {clock: 'real'})
  const counts = count(context)
  const processor = new ScriptedProcessor()
  await startDaemon(t, context, processor, options)
  await until(() => counts.rounds > 0, 'the first round')
  return {context, counts, processor}
}

/** The end of the daemon's lease, which every round without a reported write extends if there is no poll and no tick. */
const leaseEnd = ({store}: Orchestrator) => store.get<{at: number}>('SELECT expires_at_ms AS at FROM orch_leases')?.at

describe('a daemon that does not poll', () => {
  it('starts a task submitted by another process', async (t) => {
    const {context, processor} = await running(t, never)
    const program = projectFile('dist/test/orchestrator/support/submit-tasks.js')
    const child = spawn(process.execPath, [program, context.root], {stdio: ['pipe', 'pipe', 'inherit']})
    t.after(() => child.kill('SIGKILL'))
    const ids = createInterface({input: child.stdout})[Symbol.asyncIterator]()
    let withoutRenewal = 0
    for (let i = 0; i < 5; i++) {
      const before = leaseEnd(context)
      child.stdin.write('work\n')
      const {value: id} = await ids.next()
      await until(() => processor.started.includes(Number(id)), 'the task is started')
      if (leaseEnd(context) === before) withoutRenewal++
    }
    assert.ok(withoutRenewal > 0, 'only the rounds that renew the lease started tasks')
  })

  for (const [whose, client] of [
    ['another store', ({root}: Orchestrator, t: TestContext) => openTestOrchestrator(t, {root, clock: 'real'})],
    ['its own store', (context: Orchestrator) => context],
  ] as const)
    it(`starts a task submitted in its process through ${whose}`, async (t) => {
      const {context, processor} = await running(t, never)
      const submitter = await client(context, t)
      const before = leaseEnd(context)
      const id = submit(submitter as never)
      await until(() => processor.started.includes(id), 'the task is started')
      assert.equal(leaseEnd(context), before)
    })

  it('is not delayed by a burst of writes, and combines them', async (t) => {
    const {context, counts, processor} = await running(t, never)
    const client = await openTestOrchestrator(t, {root: context.root, clock: 'real'})
    const id = submit(client)
    const [started, before] = [performance.now(), counts.rounds]
    let duringBurst = false
    let writes = 0
    for (; performance.now() - started < 200; writes++) {
      // SQLite does not write a row whose values are the same.
      client.store.transaction(() => client.store.run('UPDATE orch_agents SET last_active_ms = last_active_ms + 1'))
      await setImmediate()
      duringBurst ||= processor.started.includes(id)
    }
    const rounds = counts.rounds - before
    assert.ok(duringBurst, `the task was not started during ${writes} writes`)
    // One round in 5 ms, with a margin for early timers, and a few around the run of the task.
    assert.ok(rounds <= (performance.now() - started) / 2 + 20, `${rounds} rounds for ${writes} writes`)
  })
})

describe('a daemon whose file system reports no changes', () => {
  it('starts tasks by polling', async (t) => {
    const {context, processor} = await running(t, {watchesStore: false, pollMs: 5, tickMs: never.tickMs})
    const id = submit(await openTestOrchestrator(t, {root: context.root, clock: 'real'}))
    await until(() => processor.started.includes(id), 'the task is started')
  })
})

describe('an idle daemon', () => {
  it('polls without a transaction', async (t) => {
    const {counts} = await running(t, {pollMs: 1, tickMs: never.tickMs})
    const {rounds, transactions} = counts
    await until(() => counts.rounds >= rounds + 50, '50 polls')
    assert.equal(counts.transactions, transactions)
  })
})
