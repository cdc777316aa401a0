import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  attentionWeight,
  focusDepth,
  interruptCost,
  type PromptCostFactors,
  promptCost,
  spentRatio,
} from '../../../src/tasks/attention/cost.js'
import {
  type AttentionState,
  decideInterruption,
  gainThreshold,
  type InterruptionSignals,
} from '../../../src/tasks/attention/decide.js'

const calibration = {
  planReviewGainOffsetBits: 0,
  taskSubmitGainOffsetBits: 0,
  a2aEscalationGainOffsetBits: 0,
  inlineAssistGainOffsetBits: 0,
  backlogCostPenaltyPerItem: 0.05,
  trustAdjustmentScale: 1,
}
const state: AttentionState = {
  enabled: true,
  spent_ratio: 0,
  alert_threshold: 0.7,
  focus: 'ambient',
  base_interrupt_cost_ms: 23_250,
  calibration,
}
const signals: InterruptionSignals = {
  channel: 'task_submit',
  expected_information_gain_bits: 0.2,
  expected_user_cost: 0.5,
  confidence_estimate: 0.68,
  contradiction_ratio: 0.08,
  irreversible_or_high_risk: false,
}
const risky = {irreversible_or_high_risk: true}

describe('decideInterruption', () => {
  const rows: [Partial<InterruptionSignals>, Partial<AttentionState>, decision: string, reason: string][] = [
    [{}, {enabled: false}, 'interrupt_now', 'attention_policy_disabled'],
    [
      {...risky, confidence_estimate: 0.4},
      {},
      'require_human_before_continue',
      'high_risk_or_low_confidence_requires_human',
    ],
    [
      {...risky, contradiction_ratio: 0.39},
      {},
      'require_human_before_continue',
      'high_risk_or_low_confidence_requires_human',
    ],
    [{confidence_estimate: 0.4}, {}, 'interrupt_now', 'gain_exceeds_cost'],
    [{clarification_turn_index: 3}, {}, 'proceed_autonomously', 'clarification_turns_used_up'],
    [{clarification_turn_index: 3, max_clarification_turns: 4}, {}, 'interrupt_now', 'gain_exceeds_cost'],
    [{}, {spent_ratio: 1}, 'proceed_autonomously', 'budget_exhausted_and_low_gain'],
    [
      {expected_information_gain_bits: 0.4, expected_user_cost: 0.5},
      {spent_ratio: 1, focus: 'deep'},
      'proceed_autonomously',
      'budget_exhausted_and_low_gain',
    ],
    [
      {expected_information_gain_bits: 0.4, expected_user_cost: 0.5},
      {spent_ratio: 1},
      'interrupt_now',
      'gain_exceeds_cost',
    ],
    [risky, {spent_ratio: 1}, 'require_human_before_continue', 'budget_exhausted_and_high_risk'],
    [
      {open_question_session: true, expected_information_gain_bits: 0.14},
      {},
      'batch_with_existing_prompt',
      'low_gain_joins_open_question',
    ],
    [
      {channel: 'plan_review', open_question_session: true, expected_information_gain_bits: 0.155},
      {},
      'batch_with_existing_prompt',
      'low_gain_joins_open_question',
    ],
    [
      {pending_clarification_backlog: 1, expected_information_gain_bits: 0.1},
      {},
      'defer_until_checkpoint',
      'backlog_and_low_gain',
    ],
    [{expected_information_gain_bits: 0.05}, {}, 'defer_until_checkpoint', 'gain_below_cost'],
    [{...risky, expected_information_gain_bits: 0.05}, {}, 'interrupt_now', 'gain_exceeds_cost'],
    [{}, {spent_ratio: 0.9}, 'defer_until_checkpoint', 'gain_below_cost'],
    [{}, {calibration: {...calibration, taskSubmitGainOffsetBits: -0.19}}, 'defer_until_checkpoint', 'gain_below_cost'],
    [
      {channel: 'a2a_escalation', expected_information_gain_bits: 0.05},
      {calibration: {...calibration, a2aEscalationGainOffsetBits: 0.2}},
      'interrupt_now',
      'gain_exceeds_cost',
    ],
  ]
  for (const [each, given, decision, reason] of rows)
    it(`is ${decision} for ${JSON.stringify(each)} under ${JSON.stringify(given)}`, () => {
      const decided = decideInterruption({...signals, ...each}, {...state, ...given})
      assert.deepEqual([decided.decision, decided.reason], [decision, reason])
    })

  it('scales the cost of a risky submission', () => {
    const {scaled_cost_ms: cost} = decideInterruption(
      {...signals, ...risky, expected_user_cost: 0.65, confidence_estimate: 0.4, contradiction_ratio: 0.2},
      state,
    )
    assert.equal(cost, 14_958)
  })

  it('raises the cost with the backlog and with missing trust', () => {
    const costOf = (each: Partial<InterruptionSignals>) =>
      decideInterruption({...signals, ...each}, state).scaled_cost_ms
    assert.ok(costOf({pending_clarification_backlog: 2}) > costOf({}))
    assert.ok(costOf({trust_score: 0.1}) > costOf({}))
    assert.ok(costOf({trust_score: 0.9}) < costOf({}))
  })
})

describe('gainThreshold', () => {
  const rows: [ratio: number, trust: number, threshold: number][] = [
    [0, 1, 0.11],
    [0.7, 1, 0.23],
    [1, 1, 0.58],
    [0, 0, 0.19],
  ]
  for (const [ratio, trust, threshold] of rows)
    it(`is ${threshold} at ratio ${ratio} and trust ${trust}`, () => {
      const actual = gainThreshold({spent_ratio: ratio, alert_threshold: 0.7}, trust)
      assert.ok(Math.abs(actual - threshold) < 1e-9, `${actual}`)
    })
})

describe('the cost of attention', () => {
  const prompt: PromptCostFactors = {userCost: 0.65, backlog: 0, trust: 0.3, focus: 'ambient', contradiction: 0.2}
  const rows: [Partial<PromptCostFactors>, number][] = [
    [{}, 14_958],
    [{focus: 'focused'}, 16_753],
    [{focus: 'deep'}, 20_193],
    [{backlog: 1}, 18_248],
    [{userCost: 0}, 1151],
  ]
  for (const [each, cost] of rows)
    it(`of a question is ${cost} ms with ${JSON.stringify(each)}`, () => {
      assert.equal(promptCost({...prompt, ...each}, 23_250), cost)
    })

  it('of a question is at least 1 ms', () => assert.equal(promptCost(prompt, 0), 1))

  const weights = {mental: 0.35, temporal: 0.25, frustration: 0.2, trustDiscount: 0.2}
  const task = {complexity: 5, outputTokens: 5000, priority: 'normal', rejected: 5, trust: 0.5, concurrent: 1} as const

  it('of a task weights complexity, urgency, rejections and trust', () => {
    const load = 0.35 * 0.5 + 0.25 * 0.5 + 0.2 * 0.5 + 0.2 * 0.5
    assert.ok(Math.abs(attentionWeight(task, weights) - load) < 1e-9)
    assert.ok(Math.abs(attentionWeight({...task, concurrent: 2}, weights) - 1.3 * load) < 1e-9)
    assert.ok(Math.abs(attentionWeight({...task, concurrent: 99}, weights) - 3 * load) < 1e-9)
    assert.ok(Math.abs(interruptCost(task, weights, 1000) - 1000 * load) < 1e-6)
  })

  it('depends on how often the user was interrupted', () => {
    assert.deepEqual([0, 2.9, 3, 7.9, 8].map(focusDepth), ['ambient', 'ambient', 'focused', 'focused', 'deep'])
  })

  it('uses up a budget of 0 from the start', () => {
    assert.equal(spentRatio(0, 0), 1)
    assert.equal(spentRatio(2_600_000, 3_600_000).toFixed(3), '0.722')
  })
})
