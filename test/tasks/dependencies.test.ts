import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  approveTask,
  cancelTask,
  doubtTask,
  overruleDoubt,
  readEvents,
  requireTask,
  resolveDoubt,
  submitBatch,
} from '../../src/tasks/index.js'
import {describeChain} from '../orchestrator/support/chain.js'
import {contents, openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, claimOf, complete, fail, runAll, start, statusOf, submit} from '../orchestrator/support/tasks.js'

describe('a task that depends on others', () => {
  it('is blocked by the last of them, and queued when all are completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parents = [1, 2, 3].map(() => submit(orchestrator))
    const [first = 0, second = 0, third = 0] = parents
    const child = submit(orchestrator, {depends_on: parents})
    const {status, blocked_on, depends_on} = requireTask(orchestrator, child)
    assert.deepEqual({status, blocked_on, depends_on}, {status: 'Blocked', blocked_on: third, depends_on: parents})
    complete(orchestrator, first)
    assert.equal(statusOf(orchestrator, child), 'Blocked')
    start(orchestrator, second)
    acceptTask(orchestrator, start(orchestrator, third), undefined, claimOf(orchestrator, third))
    assert.equal(requireTask(orchestrator, child).blocked_on, second)
    acceptTask(orchestrator, second, undefined, claimOf(orchestrator, second))
    const queued = requireTask(orchestrator, child)
    assert.equal(queued.status, 'Queued')
    assert.equal(queued.blocked_on, undefined)
    const unblocked = readEvents(orchestrator, {types: ['task_unblocked']})
    assert.deepEqual(
      unblocked.map(({kind}) => 'task_id' in kind && kind.task_id),
      [child],
    )
  })

  it('is queued immediately if all are completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    complete(orchestrator, parent)
    const child = submit(orchestrator, {depends_on: [parent, parent]})
    assert.equal(statusOf(orchestrator, child), 'Queued')
    assert.deepEqual(runAll(orchestrator, requireTask(orchestrator, child).agent_id), [child])
  })

  it('is rejected if one is unknown, failed or cancelled', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const good = submit(orchestrator)
    const cancelled = cancelTask(orchestrator, submit(orchestrator)).id
    complete(orchestrator, good)
    const failed = fail(orchestrator, submit(orchestrator)).id
    const before = contents(orchestrator)
    for (const unknown of [99, 0, -1, 2 ** 40]) {
      const depends_on = [good, unknown]
      refused('dependency_unknown', () => submit(orchestrator, {depends_on}))
    }
    const {params} = refused('dependency_failed', () => submit(orchestrator, {depends_on: [good, failed]}))
    assert.deepEqual(params, {dependency: 'T-0003', status: 'Failed'})
    assert.equal(
      refused('dependency_failed', () => submit(orchestrator, {depends_on: [cancelled]})).params.status,
      'Cancelled',
    )
    assert.deepEqual(contents(orchestrator), before)
  })

  it('shows what it waits for once it is approved', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent], requires_approval: true})
    assert.equal(statusOf(orchestrator, child), 'BlockedOnApproval')
    const {status, blocked_on} = approveTask(orchestrator, child)
    assert.deepEqual({status, blocked_on}, {status: 'Blocked', blocked_on: parent})
    complete(orchestrator, parent)
    assert.equal(statusOf(orchestrator, child), 'Queued')
  })

  it('still waits for approval when its dependencies are completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent], requires_approval: true})
    complete(orchestrator, parent)
    assert.equal(statusOf(orchestrator, child), 'BlockedOnApproval')
    assert.equal(approveTask(orchestrator, child).status, 'Queued')
  })
})

describe('a task with many dependants', () => {
  it('queues a thousand at once when it is completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const children = submitBatch(
      orchestrator,
      Array.from({length: 1000}, () => ({description: 'child', depends_on: [parent]})),
    )
    complete(orchestrator, parent)
    assert.deepEqual(new Set(children.map(({task_id}) => statusOf(orchestrator, task_id))), new Set(['Queued']))
  })

  it('fails all direct and indirect dependants when it fails', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const children = [1, 2, 3].map(() => submit(orchestrator, {depends_on: [parent]}))
    const grandchild = submit(orchestrator, {depends_on: children})
    const other = submit(orchestrator)
    fail(orchestrator, parent)
    for (const child of children) {
      const {status, status_reason} = requireTask(orchestrator, child)
      assert.deepEqual([status, status_reason], ['Failed', 'dependency_failed:T-0001'])
    }
    assert.equal(requireTask(orchestrator, grandchild).status_reason, 'dependency_failed:T-0002')
    assert.equal(statusOf(orchestrator, other), 'Queued')
    const failed = readEvents(orchestrator, {types: ['task_failed']})
    assert.deepEqual(
      failed.map(({kind}) => 'task_id' in kind && kind.task_id),
      [parent, ...children, grandchild],
    )
  })

  it('fails all dependants when it is cancelled in any state', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent], requires_approval: true})
    cancelTask(orchestrator, parent)
    assert.equal(requireTask(orchestrator, child).status_reason, 'dependency_failed:T-0001')
  })

  it('records its own failure and theirs in the lineage', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    submit(orchestrator, {depends_on: [parent]})
    fail(orchestrator, parent)
    const rows = orchestrator.store.all<{task_id: number}>(
      "SELECT task_id FROM orchestration_lineage_events WHERE kind = 'task_failed' ORDER BY task_id",
    )
    assert.deepEqual(
      rows.map(({task_id}) => task_id),
      [1, 2],
    )
  })
})

// A chain of 10,000 tasks is in `dependencies.slow.ts`.
describeChain(300)

describe('a doubted dependency', () => {
  it('blocks its dependants until the doubt is resolved and it has run', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    doubtTask(orchestrator, start(orchestrator, parent), 'which one?')
    assert.equal(statusOf(orchestrator, child), 'Blocked')
    resolveDoubt(orchestrator, parent, {validated: false, report: 'the second one'})
    assert.equal(statusOf(orchestrator, child), 'Blocked')
    complete(orchestrator, parent)
    assert.equal(statusOf(orchestrator, child), 'Queued')
  })

  it('releases its dependants when the doubt is overruled', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    doubtTask(orchestrator, parent)
    overruleDoubt(orchestrator, parent, 'done by hand')
    assert.equal(statusOf(orchestrator, child), 'Queued')
  })

  it('does not fail its dependants while it may still be accepted as completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    const grandchild = submit(orchestrator, {depends_on: [child]})
    doubtTask(orchestrator, child, 'is it needed?')
    fail(orchestrator, parent)
    overruleDoubt(orchestrator, child, 'done by hand')
    assert.equal(statusOf(orchestrator, child), 'Completed')
    assert.equal(statusOf(orchestrator, grandchild), 'Queued')
  })
})

describe('a doubted task with a failed dependency', () => {
  it('does not wait forever once the doubt is resolved', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    doubtTask(orchestrator, child)
    fail(orchestrator, parent)
    assert.equal(statusOf(orchestrator, child), 'Doubted')
    resolveDoubt(orchestrator, child, {validated: true, report: 'fine'})
    assert.notEqual(statusOf(orchestrator, child), 'Blocked', `it waits for ${statusOf(orchestrator, parent)} task`)
  })

  it('is queued once the doubt is resolved if the dependency has completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    doubtTask(orchestrator, child)
    complete(orchestrator, parent)
    assert.equal(statusOf(orchestrator, child), 'Doubted')
    assert.equal(resolveDoubt(orchestrator, child, {validated: true, report: 'fine'}).status, 'Queued')
  })
})
