import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {executePlan, listPlans, planStatus, replan} from '../../src/plans/index.js'
import {requireTask, takeClaim} from '../../src/tasks/index.js'
import type {TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {killRounds} from '../support/kill-rounds.js'
import {startProgramFor} from '../support/program.js'
import {projectFile} from '../support/project.js'
import {until} from '../support/until.js'
import {diamond, doNext, nodesNow, openUnattended} from './support.js'

/** Makes the store reject the next row of a table, like a full disk. */
const refuse = ({store}: TestOrchestrator, table: string): void => {
  store.run(`CREATE TRIGGER refused BEFORE INSERT ON ${table} BEGIN SELECT raise(ABORT, 'no room'); END`)
}

describe('a plan with a failing store', () => {
  it('is executed completely or not at all', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    refuse(orchestrator, 'plan_node_tasks')
    assert.throws(() => executePlan(orchestrator, id))
    assert.equal(orchestrator.store.get('SELECT 1 FROM orch_tasks'), undefined)
    assert.equal(planStatus(orchestrator, id).status, 'pending')
    orchestrator.store.run('DROP TRIGGER refused')
    assert.equal(executePlan(orchestrator, id).task_ids.length, 1)
  })

  it('does not complete a step if its dependants cannot be submitted', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    const {task, generation} = takeClaim(orchestrator, {owner: 'me'})
    refuse(orchestrator, 'plan_node_tasks')
    assert.throws(() => acceptTask(orchestrator, task.id, undefined, {generation}))
    assert.equal(requireTask(orchestrator, task.id).status, 'InProgress')
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 in_progress', 'n2 pending', 'n3 pending', 'n4 pending'])
    assert.equal(planStatus(orchestrator, id).steps[0]?.attempts, 0)
    orchestrator.store.run('DROP TRIGGER refused')
    acceptTask(orchestrator, task.id, undefined, {generation})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 queued', 'n3 queued', 'n4 pending'])
  })

  it('is replanned completely or stays unchanged', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    refuse(orchestrator, 'orchestration_lineage_events')
    assert.throws(() => replan(orchestrator, id, {delta: 'Add the fifth part'}))
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 queued', 'n2 pending', 'n3 pending', 'n4 pending'])
    assert.equal(requireTask(orchestrator, 1).status, 'Queued')
    assert.equal(planStatus(orchestrator, id).goal, 'Add four parts')
  })
})

/** Nodes whose status differs from their task, or that are ready but not submitted. */
const inconsistent = ({store}: TestOrchestrator): unknown[] =>
  store.all(
    `SELECT n.plan_session_id, n.node_id, n.status, t.status AS task
FROM plan_nodes n JOIN plan_sessions s USING (plan_session_id)
  LEFT JOIN plan_node_tasks p USING (plan_session_id, version, node_id) LEFT JOIN orch_tasks t ON t.id = p.task_id
WHERE s.status <> 'pending' AND n.status <> CASE t.status
  WHEN 'Queued' THEN 'queued' WHEN 'InProgress' THEN 'in_progress' WHEN 'Completed' THEN 'completed'
  ELSE iif(EXISTS (SELECT 1 FROM json_each(n.dependencies_json) d JOIN plan_nodes o
    ON o.plan_session_id = n.plan_session_id AND o.version = n.version AND o.node_id = d.value
    WHERE o.status <> 'completed'), 'pending', 'queued') END`,
  )

describe('plans of a killed process', () => {
  it('are consistent after a kill and continue to their end', async (t) => {
    const orchestrator = await openUnattended(t, {clock: 'real'})
    for (let kills = 0; kills < killRounds; kills++) {
      const worker = startProgramFor(t, [projectFile('dist/test/plans/work-through.js'), orchestrator.root])
      await until(
        () => worker.lines.length > 5 * kills,
        () => `tasks are done: ${worker.stderr()}`,
      )
      worker.kill()
      await worker.exited
      assert.deepEqual(inconsistent(orchestrator), [])
    }
    // The task of the killed process is released when its claim expires.
    orchestrator.store.run("UPDATE orch_tasks SET claim_expires_ms = 1 WHERE status = 'InProgress'")
    for (const {session_id: id} of listPlans(orchestrator, {status: 'pending'})) executePlan(orchestrator, id)
    for (const {session_id: id} of listPlans(orchestrator, {status: 'active', limit: 1000}))
      while (planStatus(orchestrator, id).status === 'active') doNext(orchestrator)
    const plans = listPlans(orchestrator, {limit: 100_000})
    assert.ok(plans.length > killRounds, `${plans.length} plans`)
    assert.deepEqual([...new Set(plans.map(({status}) => status))], ['completed'])
    assert.deepEqual(orchestrator.store.get<object>('SELECT count(*) AS tasks FROM plan_node_tasks'), {
      tasks: plans.length * 4,
    })
  })
})
