import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {listOperations, reorderTask} from '../../src/orchestrator/index.js'
import {executePlan, newPlan, planStatus} from '../../src/plans/index.js'
import {
  cancelTask,
  doubtTask,
  listTasks,
  pruneTasks,
  readEvents,
  requireTask,
  resolveDoubt,
  retryTask,
} from '../../src/tasks/index.js'
import {
  contents,
  openTestOrchestrator,
  refused,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, fail, statusOf, submit} from '../orchestrator/support/tasks.js'

const dayMs = 86_400_000
const month = {olderThanMs: 30 * dayMs}
const nothingKept = {dependency: 0, plan: 0, journey: 0, run: 0}
const idsOf = (orchestrator: TestOrchestrator) => listTasks(orchestrator).map(({id}) => id)

describe('old finished tasks', () => {
  it('are removed with their events, operations and awards; other tasks stay', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const [completed, failed, cancelled, doubted, waiting] = [1, 2, 3, 4, 5].map(() => submit(orchestrator))
    complete(orchestrator, completed ?? 0)
    fail(orchestrator, failed ?? 0)
    reorderTask(orchestrator, cancelled ?? 0, 'urgent')
    cancelTask(orchestrator, cancelled ?? 0)
    doubtTask(orchestrator, doubted ?? 0)
    resolveDoubt(orchestrator, doubted ?? 0, {validated: true, report: 'fine', resume: false})
    orchestrator.clock.ms += 30 * dayMs - 1
    assert.equal(pruneTasks(orchestrator, month).removed, 0)
    orchestrator.clock.ms += 1
    assert.deepEqual(pruneTasks(orchestrator, month), {dry_run: false, removed: 4, kept: nothingKept})
    assert.deepEqual(idsOf(orchestrator), [waiting])
    assert.deepEqual(
      new Set(readEvents(orchestrator).map(({kind}) => 'task_id' in kind && kind.task_id)),
      new Set([waiting, false]),
    )
    assert.deepEqual(listOperations(orchestrator), [])
    refused('task_not_found', () => requireTask(orchestrator, completed ?? 0))
  })

  it('can be restricted to a state', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator))
    fail(orchestrator, submit(orchestrator))
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0, status: ['Failed', 'Cancelled']}).removed, 1)
    assert.equal(statusOf(orchestrator, 1), 'Completed')
  })

  it('are only counted in a dry run', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator))
    const before = contents(orchestrator)
    assert.deepEqual(pruneTasks(orchestrator, {olderThanMs: 0, dryRun: true}), {
      dry_run: true,
      removed: 1,
      kept: nothingKept,
    })
    assert.deepEqual(contents(orchestrator), before)
  })

  it('leave no locks, and their keys become free', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator, {idempotency_key: 'k'}))
    complete(orchestrator, submit(orchestrator))
    pruneTasks(orchestrator, {olderThanMs: 0})
    assert.equal(submit(orchestrator, {idempotency_key: 'k'}), 3)
  })

  it('of another repository in the same store are not removed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    complete(orchestrator, submit(orchestrator))
    assert.equal(pruneTasks({...orchestrator, repositoryId: 'another'}, {olderThanMs: 0}).removed, 0)
  })

  it('stay while an unfinished task depends on them', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator)
    const second = submit(orchestrator, {depends_on: [first]})
    const third = submit(orchestrator, {depends_on: [second]})
    complete(orchestrator, first)
    complete(orchestrator, second)
    assert.deepEqual(pruneTasks(orchestrator, {olderThanMs: 0}), {
      dry_run: false,
      removed: 1,
      kept: {...nothingKept, dependency: 1},
    })
    assert.deepEqual(idsOf(orchestrator), [third, second])
    complete(orchestrator, third)
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0}).removed, 2)
  })

  it('stay if a failed task that depends on them may be retried', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator)
    const second = submit(orchestrator, {depends_on: [first]})
    const third = submit(orchestrator, {depends_on: [second], journey_id: 'j'})
    fail(orchestrator, first)
    const living = submit(orchestrator, {journey_id: 'j'})
    const {removed, kept} = pruneTasks(orchestrator, {olderThanMs: 0})
    assert.deepEqual([removed, kept], [0, {...nothingKept, dependency: 2, journey: 1}])
    assert.equal(retryTask(orchestrator, first, {dependants: true}).length, 3)
    for (const id of [first, second, third, living]) complete(orchestrator, id)
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0}).removed, 4)
  })

  it('stay until their plan has ended, which then shows its steps without tasks', async (t) => {
    const toml = '[orchestrator]\nplanning_auto_mode_enabled = true\n'
    const orchestrator = await openTestOrchestrator(t, {toml})
    const {session_id: plan} = newPlan(orchestrator, {goal: 'Add the parser; then run the test suite'})
    executePlan(orchestrator, plan)
    complete(orchestrator, 1)
    assert.deepEqual(pruneTasks(orchestrator, {olderThanMs: 0}).kept, {...nothingKept, plan: 1})
    complete(orchestrator, 2)
    assert.equal(pruneTasks(orchestrator, {olderThanMs: 0}).removed, 2)
    const {status, steps} = planStatus(orchestrator, plan)
    assert.deepEqual(
      [status, steps.map(({status: step, attempts, task_id}) => [step, attempts, task_id])],
      [
        'completed',
        [
          ['completed', 1, undefined],
          ['completed', 1, undefined],
        ],
      ],
    )
  })

  it('stay while their command is stopping', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    cancelTask(orchestrator, submit(orchestrator))
    orchestrator.store.run(`UPDATE orch_tasks SET run_process = '{"pid":1,"start":""}'`)
    assert.deepEqual(pruneTasks(orchestrator, {olderThanMs: 0}).kept, {...nothingKept, run: 1})
  })
})
