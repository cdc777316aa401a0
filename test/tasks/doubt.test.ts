import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {
  approveTask,
  awardsOf,
  cancelTask,
  doubtTask,
  listAgents,
  overruleDoubt,
  readEvents,
  requireTask,
  resolveDoubt,
  retireAgent,
  retryTask,
  takeClaim,
} from '../../src/tasks/index.js'
import {type TaskStatus, taskStatuses} from '../../src/workspace/index.js'
import {contents, openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, runAll, start, startOne, statusOf, submit, taskThatIs} from '../orchestrator/support/tasks.js'

const justified = {validated: false, report: 'Use the second table.'}

describe('a doubted task', () => {
  for (const from of taskStatuses.filter((status) => status !== 'Doubted'))
    it(`moves from ${from} to the resolution agent, and its run becomes invalid`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      const {agent_id} = requireTask(orchestrator, id)
      const task = doubtTask(orchestrator, id, 'Which table?')
      assert.deepEqual(
        [task.status, task.status_reason, task.agent_name, task.execution_role, task.claim],
        ['Doubted', 'Which table?', 'resolution', 'verifier', undefined],
      )
      const [event] = readEvents(orchestrator, {types: ['task_doubted']})
      assert.deepEqual(event?.kind, {type: 'task_doubted', task_id: id, agent_id, reason: 'Which table?'})
      const before = contents(orchestrator)
      refused('claim_lost', () => acceptTask(orchestrator, id, {text: 'late'}, {generation: 1}))
      assert.deepEqual(contents(orchestrator), before)
    })

  it('is unchanged by a second doubt', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id, 'first')
    const before = contents(orchestrator)
    assert.equal(doubtTask(orchestrator, id, 'second').status_reason, 'first')
    assert.deepEqual(contents(orchestrator), before)
  })

  it('is not run by any agent', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external'})
    doubtTask(orchestrator, id)
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'x'}))
    for (const agent of listAgents(orchestrator)) assert.equal(startOne(orchestrator, agent.id), undefined)
  })

  it('creates only one resolution agent', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_agents = 1\n'})
    for (let i = 0; i < 3; i++) doubtTask(orchestrator, submit(orchestrator))
    const resolvers = listAgents(orchestrator).filter(({kind}) => kind === 'resolution')
    assert.deepEqual(
      resolvers.map(({name, doubted, weighted_load}) => ({name, doubted, weighted_load})),
      [{name: 'resolution', doubted: 3, weighted_load: 0}],
    )
  })
})

describe('a resolved doubt', () => {
  it('requeues the task with the report in its description if it was justified', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {description: 'Drop the table.'})
    const later = submit(orchestrator)
    doubtTask(orchestrator, start(orchestrator, id))
    const task = resolveDoubt(orchestrator, id, justified)
    assert.equal(task.status, 'Queued')
    assert.match(task.description, /^Drop the table\.\n[\s\S]*Use the second table\.$/)
    assert.deepEqual([task.audit_report, task.agent_name, task.status_reason], [justified.report, 'core', undefined])
    const [event] = readEvents(orchestrator, {types: ['task_resolved']})
    assert.deepEqual(event?.kind, {type: 'task_resolved', task_id: id, agent_id: task.agent_id, ...justified})
    assert.deepEqual(runAll(orchestrator, task.agent_id), [id, later])
  })

  for (const [resume, status] of [
    [undefined, 'Queued'],
    [true, 'Queued'],
    [false, 'Completed'],
  ] as const)
    it(`leaves the task ${status} and its description unchanged if it was unjustified and resume is ${resume}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = submit(orchestrator)
      doubtTask(orchestrator, id)
      const resolution = {validated: true, report: 'All is well.', ...(resume === undefined ? {} : {resume})}
      const task = resolveDoubt(orchestrator, id, resolution)
      assert.deepEqual([task.status, task.description, task.audit_report], [status, 'work', 'All is well.'])
      assert.equal(readEvents(orchestrator, {types: ['task_completed']}).length, status === 'Completed' ? 1 : 0)
    })

  it('requeues the task if it was justified, even without resume', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id)
    assert.equal(resolveDoubt(orchestrator, id, {...justified, resume: false}).status, 'Queued')
  })

  it('completes the task with the reason in its report if it was overruled', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id)
    const task = overruleDoubt(orchestrator, id, 'I know better.')
    assert.deepEqual([task.status, task.audit_report], ['Completed', 'OVERRULED: I know better.'])
    assert.deepEqual(awardsOf(orchestrator, id), [])
    const [event] = readEvents(orchestrator, {types: ['task_completed']})
    assert.equal(event?.kind.type === 'task_completed' && event.kind.audit_report, 'OVERRULED: I know better.')
  })

  for (const [from, role, becomes] of [
    ['Queued', 'builder', 'Queued'],
    ['InProgress', 'builder', 'Queued'],
    ['Blocked', undefined, 'Blocked'],
    ['BlockedOnApproval', 'planner', 'BlockedOnApproval'],
    ['Completed', 'builder', 'Completed'],
    ['Failed', undefined, 'Failed'],
    ['Cancelled', 'researcher', 'Cancelled'],
  ] as const)
    it(`turns a task from ${from} into ${becomes} in its former role if it was unjustified`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      orchestrator.store.run('UPDATE orch_tasks SET execution_role = ? WHERE id = ?', [role ?? null, id])
      const before = requireTask(orchestrator, id)
      doubtTask(orchestrator, id, 'Is it?')
      orchestrator.clock.ms += 1000
      const after = resolveDoubt(orchestrator, id, {validated: true, report: 'It is.'})
      assert.deepEqual([after.status, after.execution_role, after.agent_name], [becomes, role, before.agent_name])
      if (becomes !== from) return
      assert.deepEqual(
        [after.status_reason, after.finished_at_ms, after.result],
        [before.status_reason, before.finished_at_ms, before.result],
      )
    })

  for (const from of ['Completed', 'Failed', 'Cancelled'] as const satisfies TaskStatus[])
    it(`requeues a task from ${from} in its former role if it was justified`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      orchestrator.store.run("UPDATE orch_tasks SET execution_role = 'builder', processor = 'ai' WHERE id = ?", [id])
      doubtTask(orchestrator, id, 'Which table?')
      const task = resolveDoubt(orchestrator, id, justified)
      assert.deepEqual([task.status, task.execution_role, task.result], ['Queued', 'builder', undefined])
      assert.match(task.description, /Use the second table\.$/)
      assert.deepEqual(runAll(orchestrator, task.agent_id), [id])
    })

  it('counts a completed task only once for its agent and releases its dependants', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = taskThatIs(orchestrator, 'Completed')
    doubtTask(orchestrator, id)
    const waiting = submit(orchestrator, {depends_on: [id]})
    assert.equal(statusOf(orchestrator, waiting), 'Blocked')
    assert.equal(listAgents(orchestrator).find(({name}) => name === 'core')?.completed, 0)
    resolveDoubt(orchestrator, id, {validated: true, report: 'It is.'})
    assert.equal(statusOf(orchestrator, waiting), 'Queued')
    assert.equal(listAgents(orchestrator).find(({name}) => name === 'core')?.completed, 1)
    assert.equal(readEvents(orchestrator, {types: ['task_completed']}).length, 1)
  })

  it('fails the dependants of a task that stays failed, and completes them without resume', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = taskThatIs(orchestrator, 'Failed')
    doubtTask(orchestrator, id)
    const waiting = submit(orchestrator, {depends_on: [id]})
    assert.equal(resolveDoubt(orchestrator, id, {validated: true, report: 'It did.'}).status_reason, 'broken')
    assert.equal(statusOf(orchestrator, waiting), 'Failed')
    doubtTask(orchestrator, id)
    const resolution = {validated: true, report: 'Good enough.', resume: false}
    assert.equal(resolveDoubt(orchestrator, id, resolution).status, 'Completed')
    assert.equal(retryTask(orchestrator, waiting)[0]?.status, 'Queued')
  })

  it('cannot be resolved twice', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id)
    resolveDoubt(orchestrator, id, justified)
    const before = contents(orchestrator)
    refused('invalid_transition', () => resolveDoubt(orchestrator, id, justified))
    refused('invalid_transition', () => overruleDoubt(orchestrator, id))
    assert.deepEqual(contents(orchestrator), before)
  })

  it('moves the task to another agent if its own has retired', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {target_agent: 'worker'})
    spawnAgent(orchestrator, {name: 'other'})
    doubtTask(orchestrator, id)
    retireAgent(orchestrator, 'worker')
    const {agent_name, agent_id} = resolveDoubt(orchestrator, id, justified)
    assert.ok(['core', 'other'].includes(agent_name))
    assert.equal(startOne(orchestrator, agent_id), id)
  })

  it('does not replace the approval that the task waits for', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {requires_approval: true})
    doubtTask(orchestrator, id)
    assert.equal(resolveDoubt(orchestrator, id, justified).status, 'BlockedOnApproval')
    assert.equal(approveTask(orchestrator, id).status, 'Queued')
  })

  for (const from of ['Queued', 'InProgress', 'Completed'] as const)
    it(`ends when the task is cancelled, which returns to its agent and has no receipt: ${from} before`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = taskThatIs(orchestrator, from)
      const {agent_name, execution_role} = requireTask(orchestrator, id)
      doubtTask(orchestrator, id)
      cancelTask(orchestrator, id)
      const cancelled = requireTask(orchestrator, id)
      assert.deepEqual(
        [cancelled.status, cancelled.agent_name, cancelled.execution_role, cancelled.receipt],
        ['Cancelled', agent_name, execution_role, undefined],
      )
      refused('invalid_transition', () => resolveDoubt(orchestrator, id, justified))
      doubtTask(orchestrator, id)
      const resumed = resolveDoubt(orchestrator, id, justified)
      assert.deepEqual(
        [resumed.status, resumed.agent_name, resumed.execution_role],
        ['Queued', agent_name, execution_role],
      )
    })
})
