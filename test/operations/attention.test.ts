import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {type OperationContext, operationNamed, type Surface} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {attentionHistory, requireTask} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {unclear} from '../support/unclear.js'

const toml = '[orchestrator]\nattention_enabled = true\n'
const submission = {description: 'Deploy the site'}

/** A function that calls an operation through a binding. @param ask asks the user */
const caller =
  (orchestrator: modules.Orchestrator, surface: Surface, ask?: OperationContext['ask']) =>
  (name: string, input: object = {}) =>
    operationNamed(name).run(input as never, {modules, orchestrator, surface, ask} as unknown as OperationContext)

describe('a submission', () => {
  for (const [surface, status] of [
    ['mcp', 'BlockedOnApproval'],
    ['daemon', 'BlockedOnApproval'],
    ['cli', 'Queued'],
  ] as const)
    it(`through ${surface} is ${status} if it has effects outside the workspace`, async (t) => {
      const call = caller(await openTestOrchestrator(t, {toml}), surface)
      assert.equal((call('submit_task', submission) as {status: string}).status, status)
      const {tasks} = call('submit_batch', {tasks: [submission]}) as {tasks: {status: string}[]}
      assert.equal(tasks[0]?.status, status)
    })
})

describe('an exhausted attention budget', () => {
  it('refuses submissions and plans of agents, but not those of a person', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: `${toml}attention_budget_ms = 0\n`})
    for (const surface of ['mcp', 'daemon'] as const) {
      const call = caller(orchestrator, surface)
      refused('attention_exhausted', () => call('submit_task', submission))
      refused('attention_exhausted', () => call('submit_batch', {tasks: [submission]}))
      for (const name of ['new_plan', 'replan', 'execute_plan'])
        await assert.rejects(async () => call(name, {goal: 'a', session_id: 'p', delta_hint: 'b'}), {
          code: 'attention_exhausted',
        })
    }
    assert.equal((caller(orchestrator, 'cli')('submit_task', submission) as {status: string}).status, 'Queued')
  })
})

describe('the execution of a plan by an agent', () => {
  const automatic = `${toml}planning_auto_mode_enabled = true\n`

  /** Opens a workspace with a plan of one step. Returns the id of the plan. */
  async function planned(t: TestContext, goal: string, settings = automatic) {
    const orchestrator = await openTestOrchestrator(t, {toml: settings})
    return {orchestrator, id: modules.plans.newPlan(orchestrator, {goal, mode: 'direct'}).session_id}
  }

  const outcomesOf = (orchestrator: TestOrchestrator) =>
    attentionHistory(orchestrator).map(({event_type, outcome}) => [event_type, outcome])

  it('is refused if the plan is risky and the user cannot be asked', async (t) => {
    const {orchestrator, id} = await planned(t, 'Delete the old releases of the site')
    await assert.rejects(async () => caller(orchestrator, 'mcp')('execute_plan', {session_id: id}), {
      code: 'plan_review_required',
    })
    assert.equal(modules.plans.planStatus(orchestrator, id).status, 'pending')
    await caller(orchestrator, 'cli')('execute_plan', {session_id: id})
    assert.equal(requireTask(orchestrator, 1).status, 'Queued')
  })

  for (const approve of [true, false])
    it(`depends on the user, who ${approve ? 'approves' : 'rejects'} it`, async (t) => {
      const {orchestrator, id} = await planned(t, 'Delete the old releases of the site')
      const forms: string[] = []
      const call = caller(orchestrator, 'mcp', async ({message}) => {
        forms.push(message)
        return {approve}
      })
      const execution = async () => call('execute_plan', {session_id: id})
      if (approve) await execution()
      else await assert.rejects(execution, {code: 'plan_review_required'})
      assert.match(forms.join(), /^Execute this plan\? Delete the old releases of the site\n1\. /)
      assert.deepEqual(outcomesOf(orchestrator), [
        ['plan_review', approve ? 'approved' : 'rejected'],
        ['plan_review', undefined],
      ])
      assert.ok((attentionHistory(orchestrator)[0]?.cost_ms ?? 0) > 0)
      // The user has reviewed the steps, so they need no further approval.
      if (approve) assert.equal(requireTask(orchestrator, 1).status, 'Queued')
      if (approve) await execution()
      assert.equal(forms.length, 1)
    })

  it('is refused without a clear answer of the user, which is no rejection', async (t) => {
    const {orchestrator, id} = await planned(t, 'Delete the old releases of the site')
    for (const approve of [...unclear, undefined])
      await assert.rejects(
        async () => caller(orchestrator, 'mcp', async () => ({approve}))('execute_plan', {session_id: id}),
        {
          code: 'plan_review_required',
        },
      )
    assert.ok(outcomesOf(orchestrator).every(([, outcome]) => outcome === undefined))
  })

  it('goes on without a question if the gain is too low, and each step is assessed', async (t) => {
    const settings = `${automatic}interruption_calibration.plan_review_gain_offset_bits = -1.5\n`
    const {orchestrator, id} = await planned(t, 'Write https://example.org into the notes', settings)
    const call = caller(orchestrator, 'mcp', () => assert.fail('the user was asked'))
    await call('execute_plan', {session_id: id})
    assert.equal(requireTask(orchestrator, 1).status_reason, 'person_required: approval_tier_blocked')
    assert.deepEqual(outcomesOf(orchestrator).at(-1), ['policy_deferred', undefined])
  })

  it('asks nothing if each task waits for approval', async (t) => {
    const {orchestrator, id} = await planned(t, 'Delete the old releases of the site', toml)
    await caller(orchestrator, 'mcp')('execute_plan', {session_id: id})
    assert.equal(requireTask(orchestrator, 1).status, 'BlockedOnApproval')
  })
})

describe('the cancellation of a task that waits for approval', () => {
  for (const [surface, rejected] of [
    ['cli', 1],
    ['mcp', 0],
  ] as const)
    it(`through ${surface} counts as ${rejected} rejections`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, {toml})
      caller(orchestrator, 'mcp')('submit_task', submission)
      if (surface === 'cli') modules.tasks.cancelTask(orchestrator, 1)
      else caller(orchestrator, surface)('cancel_task', {task_id: 1})
      assert.equal(modules.tasks.attentionBudget(orchestrator).rejected, rejected)
    })
})

describe('close_questions', () => {
  it('needs a session or a task, and returns the questions without an answer', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const call = caller(orchestrator, 'mcp')
    refused('question_invalid', () => call('close_questions', {session_id: ' '}))
    await call('ask_question', {prompt: 'Which format?', options: ['json', 'yaml'], session_id: 's'})
    const {questions} = call('close_questions', {session_id: 's'}) as {questions: {options: object[]}[]}
    assert.deepEqual(questions[0]?.options, [
      {option_id: 'json', label: 'json', is_other: false},
      {option_id: 'yaml', label: 'yaml', is_other: false},
    ])
    assert.deepEqual(call('close_questions', {session_id: 's'}), {questions: []})
  })
})
