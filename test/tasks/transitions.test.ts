import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {SvcError} from '../../src/errors/index.js'
import {type Orchestrator, reorderTask} from '../../src/orchestrator/index.js'
import {
  approveTask,
  cancelTask,
  doubtTask,
  failTask,
  overruleDoubt,
  requireTask,
  resolveDoubt,
  retryTask,
} from '../../src/tasks/index.js'
import {moveTask} from '../../src/tasks/lifecycle/status.js'
import {requireRow} from '../../src/tasks/lifecycle/task-rows.js'
import {type TaskStatus, taskStatuses} from '../../src/workspace/index.js'
import {contents, openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, statusOf, submit, taskThatIs} from '../orchestrator/support/tasks.js'
import {invariants, walkWorkspace} from '../orchestrator/support/workspace-walk.js'

/** Allowed transitions from each state, other than to itself. */
const allowed: Readonly<Record<TaskStatus, string>> = {
  Queued: 'InProgress BlockedOnApproval Doubted Cancelled',
  InProgress: 'Queued Blocked BlockedOnApproval Doubted Completed Failed Cancelled',
  Blocked: 'Queued Doubted Failed Cancelled',
  BlockedOnApproval: 'Queued InProgress Blocked Doubted Failed Cancelled',
  Doubted: 'Queued Blocked BlockedOnApproval Completed Failed Cancelled',
  Completed: 'Doubted',
  Failed: 'Queued Blocked BlockedOnApproval Cancelled Doubted',
  Cancelled: 'Queued Blocked BlockedOnApproval Doubted',
}

/** Runs an action and rolls it back, so that the next one starts from the same state. */
function tentatively(orchestrator: Orchestrator, work: () => void): void {
  const undo = new Error('taken back')
  try {
    orchestrator.store.transaction(() => {
      work()
      throw undo
    })
  } catch (error) {
    if (error !== undo) throw error
  }
}

describe('the states of a task', () => {
  for (const from of taskStatuses)
    it(`${from} allows only its transitions`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      for (const to of taskStatuses)
        tentatively(orchestrator, () => {
          const row = requireRow(orchestrator, id)
          if (from === to || allowed[from].split(' ').includes(to)) {
            moveTask(orchestrator, row, to)
            assert.equal(requireRow(orchestrator, id).status, to)
            return
          }
          const before = contents(orchestrator)
          const {params} = refused('invalid_transition', () => moveTask(orchestrator, row, to))
          assert.deepEqual([params.from, params.to], [from, to])
          assert.deepEqual(contents(orchestrator), before)
        })
    })
})

const report = {validated: false, report: 'not so'}

/** The claim of the holder of a task, if any. */
const holder = (o: Orchestrator, id: number) => {
  const {status, generation} = requireTask(o, id)
  return status === 'InProgress' ? {generation} : {}
}

/** The requests of a user, with the resulting state for each state in which they are valid. */
const requests: readonly {
  name: string
  ask: (orchestrator: Orchestrator, id: number) => unknown
  becomes: Partial<Record<TaskStatus, TaskStatus>>
}[] = [
  {name: 'complete', ask: (o, id) => acceptTask(o, id, undefined, holder(o, id)), becomes: {InProgress: 'Completed'}},
  {name: 'fail', ask: (o, id) => failTask(o, id, 'broken', holder(o, id)), becomes: {InProgress: 'Failed'}},
  {
    name: 'cancel',
    ask: (o, id) => cancelTask(o, id),
    becomes: {
      Queued: 'Cancelled',
      InProgress: 'Cancelled',
      Blocked: 'Cancelled',
      BlockedOnApproval: 'Cancelled',
      Doubted: 'Cancelled',
      Failed: 'Cancelled',
      Cancelled: 'Cancelled',
    },
  },
  {
    name: 'doubt',
    ask: (o, id) => doubtTask(o, id, 'unclear'),
    becomes: {
      Queued: 'Doubted',
      InProgress: 'Doubted',
      Blocked: 'Doubted',
      BlockedOnApproval: 'Doubted',
      Doubted: 'Doubted',
      Completed: 'Doubted',
      Failed: 'Doubted',
      Cancelled: 'Doubted',
    },
  },
  {name: 'resolve', ask: (o, id) => resolveDoubt(o, id, report), becomes: {Doubted: 'Queued'}},
  {name: 'overrule', ask: (o, id) => overruleDoubt(o, id), becomes: {Doubted: 'Completed'}},
  {name: 'retry', ask: (o, id) => retryTask(o, id), becomes: {Failed: 'Queued', Cancelled: 'Queued'}},
  {name: 'approve', ask: (o, id) => approveTask(o, id), becomes: {BlockedOnApproval: 'Queued'}},
  {
    name: 'reorder',
    ask: (o, id) => reorderTask(o, id, 'urgent'),
    becomes: {Queued: 'Queued', Blocked: 'Blocked', BlockedOnApproval: 'BlockedOnApproval'},
  },
]

describe('user requests for a task', () => {
  for (const {name, ask, becomes} of requests)
    it(`${name}: succeeds only in valid states and otherwise changes nothing`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      for (const from of taskStatuses)
        tentatively(orchestrator, () => {
          const id = taskThatIs(orchestrator, from)
          const to = becomes[from]
          if (to === undefined) {
            const before = contents(orchestrator)
            refused('invalid_transition', () => ask(orchestrator, id))
            assert.deepEqual(contents(orchestrator), before)
          } else {
            ask(orchestrator, id)
            assert.equal(statusOf(orchestrator, id), to, `from ${from}`)
          }
        })
    })

  it('retry: queues a task that was cancelled, but not before it is approved', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = taskThatIs(orchestrator, 'BlockedOnApproval')
    cancelTask(orchestrator, id)
    retryTask(orchestrator, id)
    assert.equal(statusOf(orchestrator, id), 'BlockedOnApproval')
    approveTask(orchestrator, id)
    cancelTask(orchestrator, id)
    retryTask(orchestrator, id)
    assert.equal(statusOf(orchestrator, id), 'Queued')
  })

  it('retry: does not queue a task that failed with its dependency before it is approved', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent], requires_approval: true})
    cancelTask(orchestrator, parent)
    retryTask(orchestrator, parent, {dependants: true})
    assert.equal(statusOf(orchestrator, child), 'BlockedOnApproval')
    assert.equal(approveTask(orchestrator, child).status, 'Blocked')
  })

  it('fails with not_found for an unknown task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const {ask} of requests) refused('task_not_found', () => ask(orchestrator, 1))
    assert.ok(SvcError.from(refused('task_not_found', () => cancelTask(orchestrator, 7))).message.includes('T-0007'))
  })
})

// `transitions.slow.ts` has longer walks with more seeds.
describe('a workspace under random concurrent operations', () => {
  let walks: Promise<Awaited<ReturnType<typeof walkWorkspace>>[]> | undefined
  const walk = (t: TestContext) => {
    walks ??= Promise.all([walkWorkspace(t, 3, 1000)])
    return walks
  }

  it('goes through all possible transitions', async (t) => {
    for (const {done} of await walk(t)) {
      assert.equal(done.size, 24, [...done.keys()].join())
      for (const [name, times] of done) assert.ok(times >= 3, `${name}: ${times}`)
    }
  })

  for (const {name} of invariants)
    it(name, async (t) => {
      for (const {faults} of await walk(t)) assert.equal(faults.get(name), undefined)
    })
})
