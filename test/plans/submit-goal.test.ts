import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import {handOffSubmission, newPlan, planStatus, routeGoal} from '../../src/plans/index.js'
import {readEvents, requireTask, submitBatch, submitTask, taskInDetail} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {operationWorkspace} from './operation-workspace.js'
import {doNext, nodesNow, threeSteps, unattended} from './support.js'

const router = `${unattended}planning_router_enabled = true\n`
const routed = `${router}planning_rollout_percent = 100\n`
const handingOff = `${routed}planning_workflow_handoff_enabled = true\n`

const routesOf = (orchestrator: Orchestrator) =>
  readEvents(orchestrator, {types: ['planning_routed']}).map(({kind}) => kind)

const lineageOf = ({store}: Orchestrator, kind: string) =>
  store.all<{task_id: number; plan_session_id: string | null; payload_json: string}>(
    'SELECT task_id, plan_session_id, payload_json FROM orchestration_lineage_events WHERE kind = ?',
    [kind],
  )

describe('the route of a submitted goal', () => {
  const long = 'Rewrite the parser so that it keeps comments'
  const cases: [
    title: string,
    toml: string,
    submission: SubmitTaskV1,
    strategy: string | undefined,
    reasons?: string[],
  ][] = [
    ['is not decided while the router is off', unattended, {description: long}, undefined],
    ['is not decided for a direct submission', routed, {description: long, planning_mode: 'direct'}, undefined],
    ['is one task for a short goal', routed, {description: 'Fix the build'}, 'immediate_act', ['simple']],
    ['is a plan for a goal of more than six words', routed, {description: long}, 'sequential_dag', ['complexity']],
    [
      'is a plan for a goal that is declared complex',
      routed,
      {description: 'Fix it', enqueue_hints: {complexity: 6}},
      'sequential_dag',
      ['complexity'],
    ],
    [
      'is one task below the declared complexity of six',
      routed,
      {description: 'Fix it', enqueue_hints: {complexity: 5}},
      'immediate_act',
      ['simple'],
    ],
    [
      'is a plan for a goal with four tool hints',
      routed,
      {description: 'Fix it [[tool:grep]]', enqueue_hints: {tool_hints: ['sed', 'awk', 'jq']}},
      'sequential_dag',
      ['tool_hints'],
    ],
    [
      'is one task if a member allows no plan',
      routed,
      {description: long, idempotency_key: 'k'},
      'immediate_act',
      ['single_task_members'],
    ],
    [
      'is one task outside the rollout',
      `${router}planning_rollout_percent = 0\n`,
      {description: long},
      'immediate_act',
      ['complexity', 'rollout'],
    ],
    [
      'is a workflow for a goal that names one',
      handingOff,
      {description: 'Start the release pipeline'},
      'workflow_handoff',
      ['names_workflow'],
    ],
    ['is one task for such a goal without handoff', routed, {description: 'Start the pipeline'}, 'immediate_act'],
    ['is a plan if it is asked for', unattended, {description: 'x', planning_mode: 'force_plan'}, 'sequential_dag'],
  ]
  for (const [title, toml, submission, strategy, reasons] of cases)
    it(title, async (t) => {
      const route = routeGoal(await openTestOrchestrator(t, {toml}), submission)
      assert.equal(route?.strategy, strategy)
      if (reasons !== undefined) assert.deepEqual(route?.reasons, reasons)
    })

  it('is a plan for a goal with three dependencies', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: routed})
    const depends_on = [1, 2, 3].map(() => submit(orchestrator))
    assert.deepEqual(routeGoal(orchestrator, {description: 'Fix it', depends_on})?.reasons, ['dependencies'])
  })

  it('is a plan after a thin plan of the same session', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: routed})
    const goal = 'Fix src/a.ts, src/b.ts and src/c.ts, migrate every caller of them, and rewrite all of their tests'
    newPlan(orchestrator, {goal, mode: 'direct', originSessionId: 's'})
    orchestrator.store.run('UPDATE plan_versions SET quality_score = 0.59')
    assert.deepEqual(routeGoal(orchestrator, {description: 'Fix it', session_id: 's'})?.reasons, ['prior_adequacy'])
    assert.deepEqual(routeGoal(orchestrator, {description: 'Fix it', session_id: 'other'})?.reasons, ['simple'])
    orchestrator.store.run('UPDATE plan_versions SET quality_score = 0.6')
    assert.deepEqual(routeGoal(orchestrator, {description: 'Fix it', session_id: 's'})?.reasons, ['simple'])
  })

  it('plans the configured percentage of the goals, and always the same ones', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: `${router}planning_rollout_percent = 30\n`})
    const goals = Array.from({length: 400}, (_, i) => `Rewrite the parser number ${i} so that it keeps comments`)
    const planned = () =>
      goals.filter((description) => routeGoal(orchestrator, {description})?.strategy === 'sequential_dag')
    const first = planned()
    assert.ok(first.length > 80 && first.length < 160, `${first.length} of 400`)
    assert.deepEqual(planned(), first)
  })

  it('names the member that cannot be combined with a plan', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const error = refused('task_invalid', () =>
      routeGoal(orchestrator, {description: 'x', planning_mode: 'force_plan', accept: ['It works.']}),
    )
    assert.match(error.message, /its accept cannot be combined with planning_mode force_plan/)
  })
})

describe('submit_task', () => {
  it('makes a plan of a goal and submits its first step', async (t) => {
    const {call, orchestrator} = await operationWorkspace(t, {toml: routed})
    const before = submit(orchestrator, {processor: 'external'})
    const answer = await call('submit_task', {
      description: threeSteps,
      session_id: 's',
      priority: 'urgent',
      depends_on: [before],
      correlation_id: 'c1',
      goal_type: 'feature',
      enqueue_hints: {model_preference: 'small', complexity: 9},
    })
    const {plan_session_id: plan, task_id: id} = answer
    assert.deepEqual(answer.task_ids, [id])
    assert.deepEqual(nodesNow(orchestrator, plan), ['n1 queued', 'n2 pending', 'n3 pending'])
    const {description, priority, depends_on, correlation_id, session_id, model_preference, complexity, status} =
      requireTask(orchestrator, id)
    assert.deepEqual(
      {description, priority, depends_on, correlation_id, session_id, model_preference, complexity, status},
      {
        description: 'Add the parser',
        priority: 'urgent',
        depends_on: [before],
        correlation_id: 'c1',
        session_id: 's',
        model_preference: 'small',
        complexity: 2,
        status: 'Blocked',
      },
    )
    const facts = {
      planning_mode: 'auto',
      strategy: 'sequential_dag',
      complexity: 5,
      reasons: ['complexity'],
      goal_type: 'feature',
    }
    assert.deepEqual(routesOf(orchestrator), [{type: 'planning_routed', ...facts, plan_session_id: plan}])
    const [record] = lineageOf(orchestrator, 'planning_routed')
    assert.deepEqual([record?.plan_session_id, JSON.parse(record?.payload_json ?? '')], [plan, facts])

    assert.deepEqual([doNext(orchestrator), doNext(orchestrator)], ['work', 'Add the parser'])
    const {plan_session_id, plan_node_id, plan_version} = taskInDetail(orchestrator, id)
    assert.deepEqual([plan_session_id, plan_node_id, plan_version], [plan, 'n1', 1])
    const second = planStatus(orchestrator, plan).steps[1]?.task_id as number
    const next = requireTask(orchestrator, second)
    assert.deepEqual([next.priority, next.depends_on, next.correlation_id], ['urgent', [], 'c1'])
  })

  it('limits the steps of a forced plan', async (t) => {
    const {call, orchestrator} = await operationWorkspace(t)
    const input = {description: threeSteps, planning_mode: 'force_plan', max_plan_depth: 2}
    const {plan_session_id: plan} = await call('submit_task', input)
    assert.deepEqual(nodesNow(orchestrator, plan), ['n1 queued', 'n2 pending'])
  })

  it('only records the decision in shadow mode', async (t) => {
    const {call, orchestrator} = await operationWorkspace(t, {toml: `${routed}planning_shadow_mode = true\n`})
    const answer = await call('submit_task', {description: threeSteps})
    assert.equal(answer.plan_session_id, undefined)
    assert.equal(requireTask(orchestrator, answer.task_id).description, threeSteps)
    const facts = {planning_mode: 'auto', strategy: 'sequential_dag', complexity: 5, reasons: ['complexity']}
    assert.deepEqual(routesOf(orchestrator), [
      {type: 'planning_routed', ...facts, shadow: true, task_id: answer.task_id},
    ])
    assert.deepEqual(
      lineageOf(orchestrator, 'planning_routed').map(({task_id}) => task_id),
      [answer.task_id],
    )
    assert.equal(orchestrator.store.get('SELECT 1 FROM plan_sessions'), undefined)
  })

  it('records why a goal is one task', async (t) => {
    const {call, orchestrator} = await operationWorkspace(t, {toml: routed})
    const {task_id} = await call('submit_task', {description: 'Fix the build'})
    const facts = {planning_mode: 'auto', strategy: 'immediate_act', complexity: 2, reasons: ['simple']}
    assert.deepEqual(routesOf(orchestrator), [{type: 'planning_routed', ...facts, task_id}])
  })

  it('makes no plan while planning is off', async (t) => {
    const {call} = await operationWorkspace(t, {toml: '[orchestrator]\nplanning_enabled = false\n'})
    const input = {description: threeSteps, planning_mode: 'force_plan'}
    await assert.rejects(call('submit_task', input), {code: 'planning_disabled'})
  })
})

describe('a goal that is submitted while tasks are refused', () => {
  it('leaves no plan', async (t) => {
    const {call, orchestrator} = await operationWorkspace(t, {toml: '[orchestrator]\nenabled = false\n'})
    const input = {description: threeSteps, planning_mode: 'force_plan'}
    await assert.rejects(call('submit_task', input), {code: 'orchestrator_disabled'})
    assert.equal(orchestrator.store.get('SELECT 1 FROM plan_sessions'), undefined)
  })
})

describe('a goal for a workflow', () => {
  const submission: SubmitTaskV1 = {description: 'Release it', planning_mode: 'workflow_only', session_id: 's'}

  it('is handed to the workflow engine with a plan of one step', async (t) => {
    const {call, context} = await operationWorkspace(t, {toml: handingOff})
    const handoffs: unknown[] = []
    const orchestrator: Orchestrator = {
      ...context.orchestrator,
      startWorkflow: async (handoff) => void handoffs.push(handoff),
    }
    const answer = await call('submit_task', submission, {...context, orchestrator})
    const {plan_session_id: planSessionId} = answer
    assert.deepEqual(answer, {
      plan_session_id: planSessionId,
      strategy: 'workflow_handoff',
      status: 'active',
      task_ids: [],
    })
    assert.deepEqual(handoffs, [{goal: 'Release it', planSessionId, nodeId: 'n1', version: 1}])
    const {status, execution_mode} = planStatus(orchestrator, planSessionId)
    assert.deepEqual([status, execution_mode], ['active', 'workflow_handoff'])
    assert.deepEqual(nodesNow(orchestrator, planSessionId), ['n1 in_progress'])
    assert.equal(lineageOf(orchestrator, 'workflow_handoff_started')[0]?.plan_session_id, planSessionId)
  })

  it('fails with its plan if the workflow cannot be started', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: handingOff})
    const failing = {...orchestrator, startWorkflow: () => Promise.reject(new Error('no such workflow'))}
    const route = routeGoal(failing, submission)
    assert.ok(route)
    await assert.rejects(handOffSubmission(failing, submission, route), /no such workflow/)
    const {id} = orchestrator.store.get<{id: string}>('SELECT plan_session_id AS id FROM plan_sessions') ?? {id: ''}
    assert.deepEqual([planStatus(orchestrator, id).status, nodesNow(orchestrator, id)], ['failed', ['n1 failed']])
  })

  it('is rejected without a workflow engine, or if handoff is off', async (t) => {
    const {call} = await operationWorkspace(t, {toml: handingOff})
    await assert.rejects(call('submit_task', submission), {code: 'plan_mode_unsupported'})
    const off = await openTestOrchestrator(t, {toml: routed})
    const route = routeGoal(off, submission)
    assert.ok(route)
    const handing = handOffSubmission({...off, startWorkflow: async () => {}}, submission, route)
    await assert.rejects(handing, {code: 'plan_mode_unsupported'})
    assert.equal(off.store.get('SELECT 1 FROM plan_sessions'), undefined)
  })
})

describe('planning_mode', () => {
  it('is rejected in a batch', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const error = refused('task_invalid', () =>
      submitBatch(orchestrator, [{description: 'a'}, {description: 'b', planning_mode: 'force_plan'}]),
    )
    assert.match(error.message, /^Task 2 of the batch \("b"\).*planning_mode force_plan is only allowed/)
    assert.equal(orchestrator.store.get('SELECT 1 FROM orch_tasks'), undefined)
  })

  it('direct submits one task', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: routed})
    const {task_id: id} = submitTask(orchestrator, {description: threeSteps, planning_mode: 'direct'})
    assert.equal(requireTask(orchestrator, id).description, threeSteps)
  })
})
