import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {executePlan, newPlan, type Plan, planStatus, replan, replanRequest} from '../../src/plans/index.js'
import {failTask, readEvents, requireTask, retryTask, takeClaim} from '../../src/tasks/index.js'
import {refused, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'
import {diamond, doNext, failNext, nodesNow, openUnattended, threeSteps} from './support.js'

/** All nodes of all versions, as `1 n1 completed`. */
const allNodes = ({store}: TestOrchestrator): string[] =>
  store
    .all<{node: string}>(
      "SELECT version || ' ' || node_id || ' ' || status AS node FROM plan_nodes ORDER BY version, ordinal",
    )
    .map(({node}) => node)

describe('a replanned plan', () => {
  it('keeps the files of its goal', async (t) => {
    const orchestrator = await openUnattended(t)
    const goal = 'Add paging to the inbox reads'
    const {session_id: id, versions} = newPlan(orchestrator, {goal, scopeFiles: ['./src/mesh/inbox.ts']})
    const filesOf = ({versions: [{steps}]}: Pick<Plan, 'versions'>) => steps.map(({files}) => files)
    assert.deepEqual(filesOf({versions})[0], [{path: 'src/mesh/inbox.ts', access: 'write'}])
    const request = replanRequest(orchestrator, id, {delta: 'Make the inbox cursor opaque'})
    assert.deepEqual(request.scopeFiles, ['src/mesh/inbox.ts'])
    for (const delta of ['Make the inbox cursor opaque', 'Add a limit to the inbox']) {
      const made = replan(orchestrator, id, {delta})
      const step = made.versions[0].steps.find(({description}) => description === delta)
      assert.deepEqual(
        step?.files.map(({path}) => path),
        ['src/mesh/inbox.ts'],
        delta,
      )
    }
  })

  it('keeps completed steps and supersedes and cancels the rest', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps, originSessionId: 'talk'})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const {task, generation} = takeClaim(orchestrator, {owner: 'me'})

    const made = replan(orchestrator, id, {delta: 'Keep the comments in place'})
    assert.deepEqual([made.session_id, made.replan_version, made.versions[0].version], [id, 2, 2])
    assert.equal(made.goal, `${threeSteps}\n\n## Replan context\nKeep the comments in place`)
    assert.deepEqual(
      made.versions[0].steps.map(({id: place, node_id, depends_on, description}) => [
        place,
        node_id,
        depends_on,
        description,
      ]),
      [
        [1, 'n1', [], 'Add the parser'],
        [2, 'n4', [1], 'Add the printer'],
        [3, 'n5', [2], 'Run the test suite'],
        [4, 'n6', [3], 'Keep the comments in place'],
      ],
    )
    assert.deepEqual(allNodes(orchestrator), [
      '1 n1 completed',
      '1 n2 superseded',
      '1 n3 superseded',
      '2 n1 completed',
      '2 n4 pending',
      '2 n5 pending',
      '2 n6 pending',
    ])
    const {status, status_reason: reason} = requireTask(orchestrator, task.id)
    assert.deepEqual([status, reason], ['Cancelled', `superseded by version 2 of ${id}`])
    refused('claim_lost', () => acceptTask(orchestrator, task.id, undefined, {generation}))
    assert.equal(planStatus(orchestrator, id).status, 'pending')
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'x'}))

    assert.equal(executePlan(orchestrator, id).task_ids.length, 1)
    assert.deepEqual(
      [doNext(orchestrator), doNext(orchestrator), doNext(orchestrator)],
      ['Add the printer', 'Run the test suite', 'Keep the comments in place'],
    )
    const end = planStatus(orchestrator, id)
    assert.deepEqual([end.status, end.latest_version, end.step_counts.completed], ['completed', 2, 4])
    assert.deepEqual([end.steps[0]?.task_id, end.steps[0]?.attempts], [1, 1])
    const [session] = orchestrator.store.all<object>('SELECT origin_session_id, current_version FROM plan_sessions')
    assert.deepEqual(session, {origin_session_id: 'talk', current_version: 2})
  })

  /** Steps with these descriptions, each with the positions of its dependencies, from 0. */
  const stepsOf = (...steps: [string, ...number[]][]) =>
    steps.map(([description, ...dependsOn]) => ({
      description,
      dependsOn,
      files: [],
      category: 'general' as const,
      complexity: 3,
      triggers: [],
    }))

  /** All steps with the nodes that they depend on. */
  const order = ({versions: [{steps}]}: ReturnType<typeof replan>) =>
    steps.map(({node_id, depends_on: after}) => [node_id, ...after.map((place) => steps[place - 1]?.node_id)])

  it('keeps the order of steps around a completed one', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {
      goal: 'Add a table',
      steps: stepsOf(['Add the table'], ['Add the query', 0], ['Add the page', 1]),
    })
    executePlan(orchestrator, id)
    doNext(orchestrator)
    doNext(orchestrator)
    const made = replan(orchestrator, id, {
      delta: 'The table has a key',
      steps: stepsOf(['Add the table with a key'], ['Add the query', 0], ['Add the page', 1]),
    })
    assert.deepEqual(order(made), [['n1'], ['n2', 'n1'], ['n4'], ['n5', 'n2', 'n4']])
    assert.equal(executePlan(orchestrator, id).task_ids.length, 1)
    assert.deepEqual([doNext(orchestrator), doNext(orchestrator)], ['Add the table with a key', 'Add the page'])
  })

  it('repeats a step that the goal requests twice and that is completed once', async (t) => {
    const orchestrator = await openUnattended(t)
    const goal = 'Run the linter\nFix the findings\nRun the linter\nWrite the report'
    const {session_id: id} = newPlan(orchestrator, {goal, maxTasks: 4})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const made = replan(orchestrator, id, {delta: 'Test the report'})
    assert.deepEqual(order(made), [['n1'], ['n5', 'n1'], ['n6', 'n5'], ['n7', 'n6'], ['n8', 'n7']])
    assert.equal(made.versions[0].steps[2]?.description, 'Run the linter')
    executePlan(orchestrator, id)
    for (let i = 0; i < 2; i++) doNext(orchestrator)
    // Completed twice, it covers both.
    assert.deepEqual(order(replan(orchestrator, id, {delta: 'Print it'})).slice(0, 4), [
      ['n1'],
      ['n5', 'n1'],
      ['n6', 'n5'],
      ['n9', 'n6'],
    ])
  })

  it('is rejected for steps drafted for another version', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    const {version} = replanRequest(orchestrator, id, {delta: 'Keep the comments'})
    replan(orchestrator, id, {delta: 'Add the docs page'})
    const {params} = refused('plan_changed', () => replan(orchestrator, id, {delta: 'Keep the comments', version}))
    assert.deepEqual(params, {plan: id, version: 1, current: 2})
    assert.match(planStatus(orchestrator, id).goal, /docs page$/)
  })

  it('has a goal of limited length', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: 'Add the parser'})
    replan(orchestrator, id, {delta: `Add ${'x'.repeat(40_000)}`})
    refused('plan_goal_invalid', () => replan(orchestrator, id, {delta: `Add ${'y'.repeat(40_000)}`}))
    assert.equal(planStatus(orchestrator, id).latest_version, 2)
  })

  it('rejects a retry of a replaced step', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    executePlan(orchestrator, id)
    const taskId = failNext(orchestrator)
    replan(orchestrator, id, {delta: 'Keep the comments'})
    const {params} = refused('plan_step_replaced', () => retryTask(orchestrator, taskId))
    assert.deepEqual(params, {task: 'T-0001', plan: id, node: 'n1', version: 2})
    assert.equal(requireTask(orchestrator, taskId).status, 'Failed')
  })

  it('runs the verification step again', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: 'Add the parser'})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    doNext(orchestrator)
    assert.equal(planStatus(orchestrator, id).status, 'completed')
    replan(orchestrator, id, {delta: 'Add the printer'})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n2 completed', 'n3 pending', 'n4 pending'])
    const [, , printer, check] = planStatus(orchestrator, id).steps
    assert.deepEqual([printer?.depends_on, check?.depends_on, check?.workflow], [[1], [3], 'verification_stack'])
  })

  it('records its parent version and the cause', async (t) => {
    const orchestrator = await openUnattended(t)
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    replan(orchestrator, id, {delta: 'Add the reader', mode: 'direct'})
    replan(orchestrator, id, {delta: 'Add the writer'})
    assert.deepEqual(
      orchestrator.store.all('SELECT version, parent_version, trigger_event, trigger_payload_json FROM plan_versions'),
      [
        {version: 1, parent_version: null, trigger_event: null, trigger_payload_json: null},
        {version: 2, parent_version: 1, trigger_event: 'replan', trigger_payload_json: '{"delta":"Add the reader"}'},
        {version: 3, parent_version: 2, trigger_event: 'replan', trigger_payload_json: '{"delta":"Add the writer"}'},
      ],
    )
    assert.deepEqual(
      readEvents(orchestrator, {types: ['plan_version_created', 'replan_triggered']})
        .slice(1)
        .map(({kind}) => kind),
      [2, 3].flatMap((version) => [
        {type: 'plan_version_created', plan_session_id: id, version, parent_version: version - 1},
        {type: 'replan_triggered', plan_session_id: id, version, reason: 'replan'},
      ]),
    )
    const {execution_mode: strategy, steps} = planStatus(orchestrator, id)
    assert.deepEqual([strategy, steps.length, steps.at(-1)?.description], ['sequential_dag', 5, 'Add the writer'])
    assert.equal(new Set(allNodes(orchestrator).map((node) => node.split(' ')[1])).size, 9)
  })

  it('is rejected unchanged for the same reasons as a new one', async (t) => {
    const orchestrator = await openUnattended(t, {toml: 'plan_adequacy_enforce = true\n'})
    const {session_id: id} = newPlan(orchestrator, {goal: threeSteps})
    refused('plan_goal_invalid', () => replan(orchestrator, id, {delta: '  '}))
    refused('plan_mode_unsupported', () => replan(orchestrator, id, {delta: 'x', mode: 'workflow_only'}))
    refused('plan_not_found', () => replan(orchestrator, 'plan-none', {delta: 'x'}))
    refused('plan_rejected', () => replan(orchestrator, id, {delta: 'stuff'}))
    assert.deepEqual(allNodes(orchestrator), ['1 n1 pending', '1 n2 pending', '1 n3 pending'])
    const made = replan(orchestrator, id, {delta: 'stuff', forceRiskyReason: 'they know'})
    assert.deepEqual(made.findings, [{node_id: 'n7', codes: ['vague_short', 'vague_phrase']}])
  })
})

const recovering = 'planning_replan_enabled = true\n'
const suite = 'Add the parser\nRun the test suite\nAdd the docs page'

describe('a failed step with a replan trigger', () => {
  it('is done again after its failure is reproduced, and the rest continues', async (t) => {
    const orchestrator = await openUnattended(t, {toml: recovering})
    const {session_id: id} = newPlan(orchestrator, {goal: suite})
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const taskId = failNext(orchestrator, '2 tests failed: parser')

    const {steps, status, latest_version: version, goal} = planStatus(orchestrator, id)
    assert.deepEqual([status, version, goal], ['active', 2, suite])
    assert.deepEqual(
      steps.map((step) => [step.node_id, step.status, step.depends_on]),
      [
        ['n1', 'completed', []],
        ['n4', 'queued', [1]],
        ['n5', 'pending', [2]],
        ['n3', 'pending', [3]],
      ],
    )
    assert.match(steps[1]?.description ?? '', /^Reproduce .*\n2 tests failed: parser$/)
    assert.match(steps[2]?.description ?? '', /^Run the test suite\n.*2 tests failed: parser$/s)
    assert.equal(requireTask(orchestrator, steps[1]?.task_id ?? 0).execution_role, 'reproducer')
    assert.deepEqual(allNodes(orchestrator).slice(0, 3), ['1 n1 completed', '1 n2 failed', '1 n3 superseded'])
    const [made] = orchestrator.store.all<{trigger_event: string; payload: string}>(
      'SELECT trigger_event, trigger_payload_json AS payload FROM plan_versions WHERE version = 2',
    )
    assert.deepEqual(
      [made?.trigger_event, JSON.parse(made?.payload ?? '')],
      ['task_failed', {task_id: taskId, reason: '2 tests failed: parser', trigger: 'test_failure_new_regression'}],
    )
    const [event] = readEvents(orchestrator, {types: ['replan_triggered']}).map(({kind}) => kind)
    assert.deepEqual(event, {
      type: 'replan_triggered',
      plan_session_id: id,
      version: 2,
      reason: 'test_failure_new_regression',
      task_id: taskId,
    })

    refused('plan_step_replaced', () => retryTask(orchestrator, taskId))
    for (let i = 0; i < 3; i++) doNext(orchestrator)
    assert.equal(planStatus(orchestrator, id).status, 'completed')
  })

  it('is done again automatically only once', async (t) => {
    const orchestrator = await openUnattended(t, {toml: recovering})
    const {session_id: id} = newPlan(orchestrator, {goal: 'Build the project', maxTasks: 1})
    executePlan(orchestrator, id)
    failNext(orchestrator, 'it does not compile')
    assert.deepEqual(nodesNow(orchestrator, id), ['n2 queued'])
    failNext(orchestrator, 'it does not compile')
    const {status, latest_version: version} = planStatus(orchestrator, id)
    assert.deepEqual([status, version], ['failed', 2])
  })

  it('does not affect parallel steps', async (t) => {
    const orchestrator = await openUnattended(t, {toml: recovering})
    const plan = diamond(orchestrator)
    orchestrator.store.run(
      "UPDATE plan_nodes SET execution_policy_json = json_set(execution_policy_json, '$.replan_triggers', json('[\"custom:out of paper\"]')) WHERE node_id = 'n2'",
    )
    const {session_id: id} = plan
    executePlan(orchestrator, id)
    doNext(orchestrator)
    const [second, third] = [takeClaim(orchestrator, {owner: 'a'}), takeClaim(orchestrator, {owner: 'b'})]
    orchestrator.clock.ms += 1000
    failTask(orchestrator, second.task.id, 'The printer is out of paper.', {generation: second.generation})
    // The third step was started before the second version existed, and its status has not changed since.
    assert.deepEqual(
      planStatus(orchestrator, id).recent_events.map(({kind, version, node_id}) => [kind, version, node_id]),
      [
        ['plan_node_status', 2, 'n5'],
        ['plan_version_created', 2, undefined],
        ['plan_node_status', 1, 'n2'],
        ['plan_node_status', 1, 'n1'],
        ['plan_session_created', 1, undefined],
      ],
    )
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n5 queued', 'n3 in_progress', 'n4 pending'])
    acceptTask(orchestrator, third.task.id, undefined, {generation: third.generation})
    assert.deepEqual(nodesNow(orchestrator, id), ['n1 completed', 'n5 queued', 'n3 completed', 'n4 pending'])
    doNext(orchestrator)
    doNext(orchestrator)
    assert.equal(planStatus(orchestrator, id).status, 'completed')
  })

  for (const [what, toml, reason] of [
    ['if replanning is off', '', '2 tests failed'],
    ['after another failure', recovering, 'no space left on the disk'],
  ] as const)
    it(`is not done again ${what}`, async (t) => {
      const orchestrator = await openUnattended(t, {toml})
      const {session_id: id} = newPlan(orchestrator, {goal: 'Run the test suite'})
      executePlan(orchestrator, id)
      failNext(orchestrator, reason)
      assert.deepEqual(nodesNow(orchestrator, id), ['n1 failed'])
    })
})
