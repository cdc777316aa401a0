import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Orchestrator, spawnAgent} from '../../src/orchestrator/index.js'
import {executePlan, listPlans, newPlan, type Plan, planStatus} from '../../src/plans/index.js'
import {
  approveTask,
  cancelTask,
  doubtTask,
  failTask,
  overruleDoubt,
  readEvents,
  requireTask,
  retryTask,
  submitTask,
  takeClaim,
} from '../../src/tasks/index.js'
import {done, ScriptedProcessor, startDaemon} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator, refused, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {until} from '../support/until.js'
import {diamond, doNext, failNext, nodesNow, openUnattended, threeSteps, unattended} from './support.js'

/** Room for one queued task. */
const full = 'max_queue_len = 1\nqueue_overflow_strategy = "block"\n'

const stepsOf = ({versions: [{steps}]}: Plan) => steps.map(({node_id, depends_on}) => [node_id, ...depends_on])

/** Waits for a maintenance round of the daemon, which deletes an expired lock. */
async function nextUpkeep({store, repositoryId}: Orchestrator): Promise<void> {
  store.run(`INSERT INTO orch_locks SELECT repository_id, 'over', id, agent_id, 'read', 0 FROM orch_tasks WHERE id = 1`)
  const left = () =>
    store.get<{n: number}>('SELECT count(*) AS n FROM orch_locks WHERE repository_id = ? AND path = ?', [
      repositoryId,
      'over',
    ])
  await until(() => left()?.n === 0, 'a round of upkeep')
}

describe('a new plan', () => {
  it('has its steps and is visible to every process', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const plan = newPlan(orchestrator, {
      goal: 'Add paging to inbox reads; update the docs',
      originSessionId: 'talk-1',
      scopeFiles: ['src/mesh/inbox.ts'],
    })
    assert.match(plan.session_id, /^plan-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual([plan.summary, plan.strategy], ['3 plan node(s) materialized', 'sequential_dag'])
    assert.deepEqual(stepsOf(plan), [['n1'], ['n2', 1], ['n3', 2]])
    const [version] = plan.versions
    assert.deepEqual([version.version, version.quality_score, version.reviewer_verdict], [1, 1, 'accepted'])
    assert.deepEqual(version.steps[0], {
      id: 1,
      node_id: 'n1',
      description: 'Add paging to inbox reads',
      depends_on: [],
      status: 'pending',
      files: [{path: 'src/mesh/inbox.ts', access: 'write'}],
      category: 'codegen',
      complexity: 2,
      test_decision: 'recommended',
      test_rationale: 'it changes a few files',
    })
    assert.equal(version.steps[2]?.workflow, 'verification_stack')

    const other = await openTestOrchestrator(t, {root: orchestrator.root})
    const status = planStatus(other, plan.session_id)
    assert.deepEqual(status.step_counts, {pending: 3, completed: 0, failed: 0, in_progress: 0, skipped: 0})
    assert.deepEqual(
      [status.goal, status.status, status.execution_mode, status.latest_version],
      [plan.goal, 'pending', 'sequential_dag', 1],
    )
    assert.deepEqual(status.recent_events, [{at_ms: startMs, kind: 'plan_session_created', version: 1}])
    assert.deepEqual(
      readEvents(other, {types: ['plan_session_created', 'plan_version_created']}).map(({kind}) => kind),
      [
        {type: 'plan_session_created', plan_session_id: plan.session_id, strategy: 'sequential_dag', nodes: 3},
        {type: 'plan_version_created', plan_session_id: plan.session_id, version: 1},
      ],
    )
    assert.equal(other.store.get('SELECT 1 FROM orch_tasks'), undefined)
  })

  it('has its steps in order, even with more than nine', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const goal = Array.from({length: 12}, (_, i) => `Add part number ${i + 1}`).join('\n')
    const plan = newPlan(orchestrator, {goal, maxTasks: 12})
    assert.deepEqual(
      plan.versions[0].steps.map(({node_id}) => node_id),
      Array.from({length: 12}, (_, i) => `n${i + 1}`),
    )
  })

  it('is one step in direct mode, and is rejected in workflow mode', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const plan = newPlan(orchestrator, {goal: threeSteps, mode: 'direct'})
    assert.deepEqual([plan.strategy, plan.versions[0].steps.length], ['immediate_act', 1])
    for (const mode of ['auto', 'force_plan'] as const)
      assert.equal(newPlan(orchestrator, {goal: threeSteps, mode}).versions[0].steps.length, 3)
    refused('plan_mode_unsupported', () => newPlan(orchestrator, {goal: threeSteps, mode: 'workflow_only'}))
    refused('plan_mode_unsupported', () => executePlan(orchestrator, plan.session_id, {mode: 'workflow_only'}))
    assert.equal(listPlans(orchestrator).length, 3)
  })

  it('is rejected for a blank or too long goal and for files outside', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('plan_goal_invalid', () => newPlan(orchestrator, {goal: ' \n '}))
    refused('plan_goal_invalid', () => newPlan(orchestrator, {goal: 'x'.repeat(65_537)}))
    refused('task_path_escapes', () => newPlan(orchestrator, {goal: 'Fix it', scopeFiles: ['../a.ts']}))
    for (const ids of [
      {originSessionId: 's'.repeat(2049)},
      {questionSessionId: 's'.repeat(2049)},
      {tenantId: 't'.repeat(257)},
    ])
      refused('plan_id_too_long', () => newPlan(orchestrator, {goal: threeSteps, ...ids}))
    assert.deepEqual(listPlans(orchestrator), [])
  })

  it('is separate from the plans of another workspace', async (t) => {
    const env = {SVC_WORKSPACE_JOURNEY_STORE: 'canonical'}
    const first = await openTestOrchestrator(t)
    const shared = {...env, SVC_DB_PATH: `${first.root}/shared.db`}
    const [one, two] = [await openTestOrchestrator(t, {env: shared}), await openTestOrchestrator(t, {env: shared})]
    const {session_id: id} = newPlan(one, {goal: threeSteps})
    assert.deepEqual(listPlans(two), [])
    for (const call of [() => planStatus(two, id), () => executePlan(two, id)]) refused('plan_not_found', call)
    assert.equal(listPlans(one).length, 1)
  })

  it('is suggested for a misspelt id', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    for (const misspelt of [id.slice(0, 12), `${id.slice(0, -1)}_`])
      assert.equal(refused('plan_not_found', () => planStatus(orchestrator, misspelt)).params.suggestion, id)
    assert.equal(refused('plan_not_found', () => planStatus(orchestrator, 'plan-')).params.suggestion, undefined)
  })
})

describe('the problems of a plan', () => {
  const vague = 'stuff\nDo the things'
  it('are reported, and the plan is stored', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const plan = newPlan(orchestrator, {goal: vague})
    assert.deepEqual(plan.findings, [
      {node_id: 'n1', codes: ['vague_short', 'vague_phrase']},
      {node_id: 'n2', codes: ['vague_phrase']},
    ])
    assert.equal(plan.versions[0].reviewer_verdict, 'flagged')
  })

  it('are not checked if the gate is off', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: 'orchestrator.plan_adequacy_shadow = false\n'})
    const plan = newPlan(orchestrator, {goal: vague})
    assert.deepEqual([plan.findings, plan.versions[0].reviewer_verdict], [undefined, 'pending'])
  })

  it('reject it in enforcement mode unless they are justified', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: 'orchestrator.plan_adequacy_enforce = true\n'})
    const {params} = refused('plan_rejected', () => newPlan(orchestrator, {goal: 'Wipe the cache of the server'}))
    assert.deepEqual(params.faults, [
      'step 1 destroys data without a precaution',
      'the plan is too thin (score 1, risk 0.4)',
    ])
    assert.deepEqual(listPlans(orchestrator), [])
    const plan = newPlan(orchestrator, {goal: 'Wipe the cache of the server', forceRiskyReason: 'it is a copy'})
    const [node] = orchestrator.store.all<{policy: string}>(
      'SELECT execution_policy_json AS policy FROM plan_nodes ORDER BY ordinal',
    )
    const {force_risky, force_risky_reason} = JSON.parse(node?.policy ?? '')
    assert.deepEqual([force_risky, force_risky_reason], [true, 'it is a copy'])
    assert.equal(plan.versions[0].reviewer_verdict, 'accepted')
    const thin = `Add a lot: ${'more '.repeat(30)}`
    assert.match(refused('plan_rejected', () => newPlan(orchestrator, {goal: thin, maxTasks: 1})).message, /too thin/)
    newPlan(orchestrator, {goal: threeSteps})
  })
})

describe('an executed plan', () => {
  it('requires approval for every step and continues automatically', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: 'orchestrator.default_processor = "external"\n'})
    const request = {goal: threeSteps, originSessionId: 'talk-1', tenantId: 'team'}
    const {session_id: id} = newPlan(orchestrator, request)
    const first = executePlan(orchestrator, id)
    assert.deepEqual(first, {task_ids: [1], ok: true})
    const task = requireTask(orchestrator, 1)
    assert.deepEqual(
      [task.status, task.description, task.session_id, task.tenant_id, task.priority],
      ['BlockedOnApproval', 'Add the parser', 'talk-1', 'team', 'normal'],
    )
    assert.match(task.thread_id ?? '', /^plan-[0-9a-f]{16}$/)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 queued', 'n2 pending', 'n3 pending'])
    assert.deepEqual(executePlan(orchestrator, id), {task_ids: [], ok: true})

    approveTask(orchestrator, 1)
    const {task: claimed, generation} = takeClaim(orchestrator, {owner: 'me'})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 in_progress', 'n2 pending', 'n3 pending'])
    orchestrator.clock.ms += 1500
    acceptTask(orchestrator, claimed.id, undefined, {generation})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 queued', 'n3 pending'])
    assert.equal(requireTask(orchestrator, 2).status, 'BlockedOnApproval')
    assert.notEqual(requireTask(orchestrator, 2).thread_id, task.thread_id)
    const {steps, status, recent_events: events} = planStatus(orchestrator, id)
    assert.deepEqual([steps[0]?.task_id, steps[0]?.attempts, steps[0]?.last_outcome], [1, 1, 'completed'])
    assert.equal(status, 'active')
    assert.deepEqual(
      events.map(({kind, node_id, status: how}) => [kind, node_id, how]),
      [
        ['plan_node_status', 'n2', 'queued'],
        ['plan_node_status', 'n1', 'completed'],
        ['plan_session_created', undefined, undefined],
      ],
    )
    const [attempt] = orchestrator.store.all<object>(
      'SELECT attempt_no, task_id, outcome, latency_ms FROM plan_node_attempts',
    )
    assert.deepEqual(attempt, {attempt_no: 1, task_id: 1, outcome: 'completed', latency_ms: 1500})
  })

  it('runs independent steps in parallel and the final one once', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    assert.equal(executePlan(orchestrator, id).task_ids.length, 1)
    doNext(orchestrator)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 queued', 'n3 queued', 'n4 pending'])
    doNext(orchestrator)
    assert.deepEqual(nodesNow(orchestrator, id).at(-1), 'n4 pending')
    doNext(orchestrator)
    assert.deepEqual(nodesNow(orchestrator, id).at(-1), 'n4 queued')
    assert.equal(doNext(orchestrator), 'Add the fourth part')
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'x'}))
    assert.deepEqual(planStatus(orchestrator, id).step_counts, {
      pending: 0,
      completed: 4,
      failed: 0,
      in_progress: 0,
      skipped: 0,
    })
    assert.equal(planStatus(orchestrator, id).status, 'completed')
    assert.deepEqual(executePlan(orchestrator, id), {task_ids: [], ok: true})
    assert.equal(planStatus(orchestrator, id).status, 'completed')
  })

  it('is completed by a daemon after one call', async (t) => {
    const toml = unattended.replace('"external"', '"ai"')
    const orchestrator = await openTestOrchestrator(t, {toml, clock: 'real'})
    const client = await openTestOrchestrator(t, {root: orchestrator.root, clock: 'real'})
    const did: string[] = []
    const processor = new ScriptedProcessor(({description}) => {
      did.push(description)
      return done()
    })
    await startDaemon(t, orchestrator, processor)
    const {session_id: id} = diamond(client)
    executePlan(client, id)
    await until(() => planStatus(client, id).status === 'completed', 'the plan is completed')
    assert.deepEqual(
      did.toSorted(),
      planStatus(client, id)
        .steps.map(({description}) => description)
        .toSorted(),
    )
    assert.equal(did[0], 'Add the first part')
    assert.equal(did[3], 'Add the fourth part')
  })

  it('reports a failed step and continues when that is completed by a retry', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const taskId = failNext(orchestrator, 'no luck')
    const failed = planStatus(orchestrator, id)
    assert.deepEqual([failed.status, failed.step_counts.failed], ['failed', 1])
    assert.deepEqual([failed.steps[1]?.last_outcome, failed.steps[1]?.last_error], ['failed', 'no luck'])
    const {params, message} = refused('plan_stuck', () => executePlan(orchestrator, id))
    assert.deepEqual([params.nodes, message], [['n2'], `${id} cannot continue: n2 failed or was cancelled.`])

    retryTask(orchestrator, taskId)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 queued', 'n3 pending'])
    assert.equal(planStatus(orchestrator, id).status, 'active')
    doNext(orchestrator)
    doNext(orchestrator)
    const {status, steps} = planStatus(orchestrator, id)
    assert.equal(status, 'completed')
    assert.deepEqual([steps[1]?.attempts, steps[1]?.last_outcome, steps[1]?.last_error], [2, 'completed', undefined])
  })

  it('follows a doubted, overruled or cancelled task', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    takeClaim(orchestrator, {owner: 'me'})
    doubtTask(orchestrator, 1, 'which parser?')
    assert.equal(nodesNow(orchestrator, id)[0], 'n1 queued')
    overruleDoubt(orchestrator, 1)
    assert.deepEqual(nodesNow(orchestrator, id).slice(0, 3), ['n1 completed', 'n2 queued', 'n3 queued'])
    cancelTask(orchestrator, 2, {reason: 'not wanted'})
    doNext(orchestrator)
    const {status, step_counts: counts} = planStatus(orchestrator, id)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 cancelled', 'n3 completed', 'n4 pending'])
    assert.deepEqual([status, counts.completed, counts.pending], ['failed', 2, 2])
  })

  it('emits every status of a step as an event', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps, maxTasks: 1})
    executePlan(orchestrator, id)
    failNext(orchestrator, 'no luck')
    const about = {type: 'plan_node_status', plan_session_id: id, version: 1, node_id: 'n1', task_id: 1}
    assert.deepEqual(
      readEvents(orchestrator, {taskId: 1, types: ['plan_node_status']}).map(({kind}) => kind),
      [
        {...about, status: 'queued'},
        {...about, status: 'in_progress'},
        {...about, status: 'failed', reason: 'no luck'},
      ],
    )
  })

  it('assigns a step to the agent that holds its file', async (t) => {
    const orchestrator = await openUnattended(t)
    const file = [{path: 'src/a.ts', access: 'write'}]
    spawnAgent(orchestrator, {name: 'other'})
    submitTask(orchestrator, {description: 'work', target_agent: 'busy', file_manifest: file})
    orchestrator.store.run('DELETE FROM orch_affinity')
    const {session_id: id} = newPlan(orchestrator, {goal: 'Add paging to src/a.ts'})
    const {
      task_ids: [taskId = 0],
      held,
    } = executePlan(orchestrator, id)
    assert.equal(held, undefined)
    assert.equal(requireTask(orchestrator, taskId).agent_name, 'busy')
  })

  it('holds a rejected step with the reason', async (t) => {
    const orchestrator = await openUnattended(t, {toml: full})
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    doNext(orchestrator)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 queued', 'n3 pending', 'n4 pending'])
    const events = readEvents(orchestrator, {types: ['plan_node_status']}).map(({kind}) => kind)
    const held = events.find((kind) => kind.type === 'plan_node_status' && kind.status === 'pending')
    assert.match(held?.type === 'plan_node_status' ? `${held.node_id} ${held.reason}` : '', /^n3 queue_full: /)
    assert.equal(refused('queue_full', () => executePlan(orchestrator, id)).code, 'queue_full')
    assert.match(planStatus(orchestrator, id).steps[2]?.held_reason ?? '', /^queue_full: /)
    failNext(orchestrator)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 failed', 'n3 queued', 'n4 pending'])
    const {status, steps} = planStatus(orchestrator, id)
    assert.deepEqual([status, steps[2]?.held_reason], ['active', undefined])
  })

  it('has not failed while a rejected step can still run', async (t) => {
    const orchestrator = await openUnattended(t, {toml: full})
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const {task, generation} = takeClaim(orchestrator, {owner: 'me'})
    assert.equal(submitTask(orchestrator, {description: 'other work'}).status, 'Queued')
    failTask(orchestrator, task.id, 'broken', {generation})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 failed', 'n3 pending', 'n4 pending'])
    assert.equal(planStatus(orchestrator, id).status, 'active')
    failNext(orchestrator)
    executePlan(orchestrator, id)
    failNext(orchestrator)
    assert.equal(planStatus(orchestrator, id).status, 'failed')
  })

  it('continues with a rejected step when another one is cancelled', async (t) => {
    const orchestrator = await openUnattended(t, {toml: full})
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    doNext(orchestrator)
    cancelTask(orchestrator, 2)
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 cancelled', 'n3 queued', 'n4 pending'])
    assert.equal(planStatus(orchestrator, id).status, 'active')
  })

  it('has its rejected step retried by the daemon, with one event', async (t) => {
    const orchestrator = await openUnattended(t, {toml: full, clock: 'real'})
    const client = await openTestOrchestrator(t, {root: orchestrator.root, clock: 'real'})
    const {session_id: id} = diamond(client)
    executePlan(client, id)
    doNext(client)
    const held = () =>
      readEvents(client, {types: ['plan_node_status']}).filter(
        ({kind}) => kind.type === 'plan_node_status' && kind.status === 'pending',
      )
    const daemon = await startDaemon(t, orchestrator, new ScriptedProcessor())
    for (let round = 0; round < 2; round++) await nextUpkeep(client)
    assert.deepEqual([nodesNow(client, id)[2], held().length], ['n3 pending', 1])
    // This does not end any part of the plan, which only waits for the room in the queue.
    takeClaim(client, {owner: 'me'})
    await until(() => nodesNow(client, id)[2] === 'n3 queued', 'the step is queued')
    assert.equal(held().length, 1)
    await daemon.stop()
  })

  it('continues automatically when planning is enabled again', async (t) => {
    const orchestrator = await openUnattended(t, {clock: 'real'})
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    executePlan(orchestrator, id)
    const without = await openTestOrchestrator(t, {
      root: orchestrator.root,
      toml: `${unattended}planning_enabled = false\n`,
      clock: 'real',
    })
    doNext(without)
    assert.match(planStatus(without, id).steps[1]?.held_reason ?? '', /^planning_disabled: /)
    await startDaemon(t, orchestrator, new ScriptedProcessor())
    await until(() => nodesNow(orchestrator, id)[1] === 'n2 queued', 'the step is queued')
  })

  it('reports which of several steps were rejected', async (t) => {
    const orchestrator = await openUnattended(t, {toml: full})
    const step = {dependsOn: [], files: [], category: 'general' as const, complexity: 1, triggers: []}
    const steps = ['Add the first part', 'Add the second part'].map((description) => ({...step, description}))
    const {session_id: id} = newPlan(orchestrator, {goal: 'Add two parts', steps})
    const {task_ids: ids, held} = executePlan(orchestrator, id)
    assert.deepEqual([ids.length, held?.map(({node_id, code}) => [node_id, code])], [1, [['n2', 'queue_full']]])
  })

  it('rejects a tenant id that is too long for its tasks', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    const {params} = refused('plan_id_too_long', () => executePlan(orchestrator, id, {tenantId: 't'.repeat(257)}))
    assert.deepEqual(params, {name: 'tenant_id', length: 257, limit: 256})
    executePlan(orchestrator, id, {tenantId: 't'.repeat(256)})
  })

  it('reads only the nodes needed for the next steps', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = diamond(orchestrator)
    executePlan(orchestrator, id)
    orchestrator.store.run("UPDATE plan_nodes SET execution_policy_json = 'unread' WHERE node_id IN ('n1', 'n4')")
    doNext(orchestrator)
    assert.equal(takeClaim(orchestrator, {owner: 'me'}).task.description, 'Add the second part')
  })

  it('is not executed while planning or the orchestrator is disabled', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    executePlan(orchestrator, id)
    const off = (line: string) => openTestOrchestrator(t, {root: orchestrator.root, toml: `${unattended}${line}\n`})
    const stopped = await off('enabled = false')
    refused('orchestrator_disabled', () => executePlan(stopped, id))
    const without = await off('planning_enabled = false')
    for (const call of [() => executePlan(without, id), () => newPlan(without, {goal: threeSteps})])
      refused('planning_disabled', call)
    doNext(without)
    assert.deepEqual(nodesNow(without, id), ['n1 completed', 'n2 pending', 'n3 pending'])
    assert.equal(executePlan(orchestrator, id).task_ids.length, 1)
  })
})

describe('the lineage of tasks', () => {
  it('contains the plan and node of a task', async (t) => {
    const orchestrator = await openUnattended(t)
    submitTask(orchestrator, {description: 'of no plan', processor: 'ai'})
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps, maxTasks: 2, originSessionId: 'talk-1'})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    failNext(orchestrator)
    const rows = orchestrator.store.all<Record<string, unknown>>(
      `SELECT kind, task_id, session_id, plan_session_id = '${id}' AS ours, plan_node_id FROM orchestration_lineage_events ORDER BY id`,
    )
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        ['task_submitted', 1, null, null, null],
        ['plan_session_created', 0, 'talk-1', 1, null],
        ['task_submitted', 2, 'talk-1', 1, 'n1'],
        ['task_completed', 2, 'talk-1', 1, 'n1'],
        ['task_submitted', 3, 'talk-1', 1, 'n2'],
        ['task_failed', 3, 'talk-1', 1, 'n2'],
      ],
    )
  })
})

describe('a list of plans', () => {
  it('has the newest first and can be filtered', async (t) => {
    const orchestrator = await openUnattended(t)
    const make = (goal: string, originSessionId?: string) => {
      orchestrator.clock.ms++
      return newPlan(orchestrator, {goal, originSessionId, maxTasks: 1}).session_id
    }
    const ids = [make('Add the parser'), make('Add the printer', 'talk'), make('Add the reader', 'talk')]
    executePlan(orchestrator, ids[1] ?? '')
    doNext(orchestrator)
    const listed = (filter: Parameters<typeof listPlans>[1]) =>
      listPlans(orchestrator, filter).map(({session_id: id}) => ids.indexOf(id))
    assert.deepEqual(listed({}), [2, 1, 0])
    assert.deepEqual(listed({limit: 2}), [2, 1])
    assert.deepEqual(listed({before: ids[2], limit: 1}), [1])
    assert.deepEqual(listed({before: ids[0]}), [])
    assert.throws(() => listed({before: 'plan-none'}), {code: 'plan_not_found'})
    assert.deepEqual(listed({originSessionId: 'talk'}), [2, 1])
    assert.deepEqual(listed({status: 'pending'}), [2, 0])
    orchestrator.clock.ms++
    const long = newPlan(orchestrator, {goal: `Add ${'x'.repeat(300)} to it`, maxTasks: 1})
    const [first] = listPlans(orchestrator)
    assert.deepEqual([first?.session_id, first?.goal], [long.session_id, `Add ${'x'.repeat(195)}…`])
    const [completed] = listPlans(orchestrator, {status: 'completed'})
    assert.deepEqual(completed, {
      session_id: ids[1],
      origin_session_id: 'talk',
      goal: 'Add the printer',
      status: 'completed',
      execution_mode: 'sequential_dag',
      latest_version: 1,
      total: 1,
      completed: 1,
      failed: 0,
      created_at_ms: orchestrator.clock.ms - 2,
      updated_at_ms: orchestrator.clock.ms - 1,
    })
  })
})
