import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {recordAttention} from '../../../src/tasks/attention/budget.js'
import {
  answerQuestion,
  askAsAgent,
  attentionBudget,
  attentionHistory,
  chatQuestioning,
  type Judgement,
  pendingQuestions,
} from '../../../src/tasks/index.js'
import {
  openTestOrchestrator,
  refused,
  type TestOrchestrator,
} from '../../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../../orchestrator/support/tasks.js'

const prompt = 'Which format?'
const budgetMs = 100_000

/** Opens a workspace in which a share of the attention budget is spent. */
async function open(test: TestContext, spent: number, settings = ''): Promise<TestOrchestrator> {
  const toml = `orchestrator.attention_enabled = true\norchestrator.attention_budget_ms = ${budgetMs}\n${settings}`
  const orchestrator = await openTestOrchestrator(test, {toml})
  const event = {event_type: 'command_approval', trust_score_at_time: 0, effective_complexity: 5} as const
  if (spent > 0)
    orchestrator.store.transaction(() =>
      recordAttention(orchestrator, {...event, decision_entropy_bits: 1, cost_ms: spent * budgetMs}),
    )
  // The interruption above is too long ago to count as focus.
  orchestrator.clock.ms += 3_600_000
  return orchestrator
}

const latest = (orchestrator: TestOrchestrator) => attentionHistory(orchestrator, 24 * 365)[0]
/** A question that gains little for what it costs. */
const minor = {prompt, expected_information_gain_bits: 0.1, expected_user_cost: 0.5}

describe('askAsAgent', () => {
  it('interrupts the user and records nothing while attention is off', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    assert.equal(askAsAgent(orchestrator, {...minor, session_id: 's'}).interrupts, true)
    assert.deepEqual(attentionHistory(orchestrator), [])
  })

  it('interrupts the user for a question that is worth it, and charges the answer', async (t) => {
    const orchestrator = await open(t, 0)
    const task_id = submit(orchestrator)
    const {question, interrupts} = askAsAgent(orchestrator, {prompt, task_id, blocks: true})
    assert.equal(interrupts, true)
    const asked = latest(orchestrator)
    assert.deepEqual(
      [asked?.event_type, asked?.channel, asked?.task_id, asked?.agent_id, asked?.cost_ms],
      ['a2a_interrupt', 'a2a_escalation', task_id, 1, 0],
    )
    answerQuestion(orchestrator, {question_id: question.question_id, answer: 'JSON'})
    const answered = latest(orchestrator)
    // 23,250 ms * user cost 0.4 * (1 - 0.25 * trust 0.3) * (1 + 0.35 * contradiction 0.08)
    assert.deepEqual([answered?.event_type, answered?.cost_ms], ['clarification_answered', 8843])
    assert.equal(attentionBudget(orchestrator).spent_ms, 8843)
  })

  it('leaves a minor question in the inbox', async (t) => {
    const orchestrator = await open(t, 0.8)
    const {question, interrupts} = askAsAgent(orchestrator, {...minor, session_id: 's'})
    assert.equal(interrupts, false)
    assert.deepEqual(pendingQuestions(orchestrator), [question])
    assert.deepEqual(
      [latest(orchestrator)?.event_type, latest(orchestrator)?.channel],
      ['policy_deferred', 'chat_clarification'],
    )
    assert.equal(attentionBudget(orchestrator).inbox_suppressed_count, 1)
  })

  it('refuses a minor question while no attention is left, and records that', async (t) => {
    const orchestrator = await open(t, 1)
    const error = refused('question_refused', () => askAsAgent(orchestrator, {...minor, session_id: 's'}))
    assert.deepEqual(error.params, {session: 's', reason: 'attention_budget_exceeded'})
    assert.deepEqual(pendingQuestions(orchestrator), [])
    assert.equal(latest(orchestrator)?.event_type, 'policy_proceed_auto')
  })

  it('interrupts the user for a risky task even if no attention is left', async (t) => {
    const orchestrator = await open(t, 1)
    const task_id = submit(orchestrator, {description: 'Deploy the site', processor: 'external'})
    assert.equal(askAsAgent(orchestrator, {...minor, task_id}).interrupts, true)
    assert.equal(latest(orchestrator)?.decision?.decision, 'require_human_before_continue')
  })

  it('refuses a fourth question of a session', async (t) => {
    const orchestrator = await open(t, 0)
    for (let i = 0; i < 3; i++) askAsAgent(orchestrator, {prompt, session_id: 's'})
    const error = refused('question_refused', () => askAsAgent(orchestrator, {prompt, session_id: 's'}))
    assert.equal(error.params.reason, 'max_clarification_turns')
  })

  it('ends clarifications after an hour of attention, however large the budget is', async (t) => {
    const orchestrator = await open(t, 36, 'orchestrator.attention_alert_threshold = 0.99\n')
    const urgent = {prompt, session_id: 's', expected_information_gain_bits: 1.5, expected_user_cost: 0.1}
    assert.equal(
      refused('question_refused', () => askAsAgent(orchestrator, urgent)).params.reason,
      'attention_budget_exceeded',
    )
  })
})

describe('chatQuestioning', () => {
  const chat = {sessionId: 's', message: 'Which port?', isInline: false}
  const judgement: Judgement = {
    risk_decision: 'ask',
    confidence_estimate: 0.5,
    contradiction_ratio: 0,
    band: 'medium',
    citation_coverage: 0,
    research: {should_research: true, trigger: 'missing_citations'},
  }

  it('suggests a question while attention is off', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    assert.equal(chatQuestioning(orchestrator, judgement, chat).question_needed, true)
    assert.deepEqual(attentionHistory(orchestrator), [])
  })

  const cases: readonly [spent: number, offset: number, isInline: boolean, stop: string | null][] = [
    [0, 0, false, null],
    [0, -1.5, true, 'user_cost_too_high'],
    [0, -1.5, false, null],
    [1, -0.7, true, 'attention_budget_exceeded'],
  ]
  for (const [spent, offset, isInline, stop] of cases)
    it(`${stop === null ? 'suggests a question' : `stops with ${stop}`} for an offset of ${offset} bits if ${spent * 100} % of the attention are spent${isInline ? ' and files are open' : ''}`, async (t) => {
      const settings = `orchestrator.interruption_calibration.inline_assist_gain_offset_bits = ${offset}\n`
      const orchestrator = await open(t, spent, settings)
      const {question_needed, stop_reason} = chatQuestioning(orchestrator, judgement, {...chat, isInline})
      assert.deepEqual([question_needed, stop_reason], [stop === null, stop])
      assert.equal(latest(orchestrator)?.channel, isInline ? 'inline_assist' : 'chat_clarification')
    })
})
