import {clamp} from '../base/clamp.js'
import {type FocusDepth, focusFactors, promptCost} from './cost.js'

/** Where a question to the user comes from. */
export type InterruptionChannel =
  | 'chat_clarification'
  | 'plan_review'
  | 'task_submit'
  | 'a2a_escalation'
  | 'inline_assist'
  | 'other'

/** What is known about a question that may interrupt the user. */
export interface InterruptionSignals {
  channel: InterruptionChannel
  /** Bits. */
  expected_information_gain_bits: number
  /** Effort to answer, 0 to 1. */
  expected_user_cost: number
  /** 0 to 1. */
  confidence_estimate: number
  /** Share of the evidence that contradicts itself, 0 to 1. */
  contradiction_ratio: number
  /** Questions that wait for an answer; default: 0. */
  pending_clarification_backlog?: number
  /** Number of the question in its conversation, from 0; default: 0. */
  clarification_turn_index?: number
  /** Default: 3. */
  max_clarification_turns?: number
  irreversible_or_high_risk: boolean
  /** Trust in the agent that asks, 0 to 1; default: 0.3. */
  trust_score?: number
  /** The session has an open question that this one can join; default: false. */
  open_question_session?: boolean
}

/** Corrections of the signals, in bits and factors. */
export interface InterruptionCalibration {
  planReviewGainOffsetBits: number
  taskSubmitGainOffsetBits: number
  a2aEscalationGainOffsetBits: number
  inlineAssistGainOffsetBits: number
  backlogCostPenaltyPerItem: number
  trustAdjustmentScale: number
}

/** What the decision depends on besides the question. */
export interface AttentionState {
  enabled: boolean
  /** Share of the budget that is spent; exhausted from 1. */
  spent_ratio: number
  /** Share of the budget above which its use raises an alert, 0.05 to 0.99. */
  alert_threshold: number
  focus: FocusDepth
  /** Cost of one interruption, in milliseconds. */
  base_interrupt_cost_ms: number
  calibration: InterruptionCalibration
}

export type Interruption =
  | 'interrupt_now'
  | 'defer_until_checkpoint'
  | 'batch_with_existing_prompt'
  | 'proceed_autonomously'
  | 'require_human_before_continue'

export interface InterruptionDecision {
  decision: Interruption
  /** Stable code of the rule that matched. */
  reason: string
  /** Attention that the question takes, in milliseconds. */
  scaled_cost_ms: number
}

/** Calibrated signals: all of them are present and in range. */
type Calibrated = Required<InterruptionSignals>

const offsets: Partial<Record<InterruptionChannel, (calibration: InterruptionCalibration) => number>> = {
  plan_review: ({planReviewGainOffsetBits}) => planReviewGainOffsetBits,
  task_submit: ({taskSubmitGainOffsetBits}) => taskSubmitGainOffsetBits,
  a2a_escalation: ({a2aEscalationGainOffsetBits}) => a2aEscalationGainOffsetBits,
  inline_assist: ({inlineAssistGainOffsetBits}) => inlineAssistGainOffsetBits,
}

/** Bits added to the limit below which a question joins an open one. */
const priors: Partial<Record<InterruptionChannel, number>> = {
  plan_review: 0.06,
  task_submit: 0.05,
  a2a_escalation: 0.04,
  inline_assist: 0.03,
}

/** Decides whether a question may interrupt the user now. The first rule that matches wins. */
export function decideInterruption(signals: InterruptionSignals, state: AttentionState): InterruptionDecision {
  const calibrated = calibrate(signals, state.calibration)
  const [decision, reason] = firstMatch(calibrated, state)
  const {expected_user_cost: userCost, pending_clarification_backlog: backlog, contradiction_ratio} = calibrated
  const factors = {userCost, backlog, trust: calibrated.trust_score, contradiction: contradiction_ratio}
  const scaled_cost_ms = promptCost({...factors, focus: state.focus}, state.base_interrupt_cost_ms)
  return {decision, reason, scaled_cost_ms}
}

function calibrate(signals: InterruptionSignals, calibration: InterruptionCalibration): Calibrated {
  const {channel, pending_clarification_backlog: backlog = 0, trust_score: trust = 0.3} = signals
  const gain = signals.expected_information_gain_bits + (offsets[channel]?.(calibration) ?? 0)
  const penalty = 1 + Math.max(0, backlog * calibration.backlogCostPenaltyPerItem)
  return {
    clarification_turn_index: 0,
    max_clarification_turns: 3,
    open_question_session: false,
    ...signals,
    pending_clarification_backlog: backlog,
    expected_information_gain_bits: clamp(gain, 0, 1.5),
    expected_user_cost: clamp(signals.expected_user_cost * penalty, 0.05, 1),
    trust_score: clamp((trust - 0.5) * calibration.trustAdjustmentScale + 0.5, 0, 1),
  }
}

function firstMatch(signals: Calibrated, state: AttentionState): [Interruption, reason: string] {
  const {expected_information_gain_bits: gain, irreversible_or_high_risk: isHighRisk} = signals
  const {confidence_estimate: confidence, contradiction_ratio: contradiction} = signals
  const {pending_clarification_backlog: backlog, expected_user_cost: userCost} = signals
  const isExhausted = state.spent_ratio >= 1
  if (!state.enabled) return ['interrupt_now', 'attention_policy_disabled']
  if (isHighRisk && (confidence < 0.42 || contradiction > 0.38))
    return ['require_human_before_continue', 'high_risk_or_low_confidence_requires_human']
  if (signals.clarification_turn_index >= signals.max_clarification_turns)
    return ['proceed_autonomously', 'clarification_turns_used_up']
  if (isExhausted && !isHighRisk && gain < 0.22 + 0.15 * focusFactors[state.focus])
    return ['proceed_autonomously', 'budget_exhausted_and_low_gain']
  if (isExhausted && isHighRisk) return ['require_human_before_continue', 'budget_exhausted_and_high_risk']
  if (signals.open_question_session && backlog === 0 && gain < 0.1 + (priors[signals.channel] ?? 0))
    return ['batch_with_existing_prompt', 'low_gain_joins_open_question']
  if (backlog >= 1 && gain < 0.11 && !isHighRisk) return ['defer_until_checkpoint', 'backlog_and_low_gain']
  if (gain / userCost < gainThreshold(state, signals.trust_score) && !isHighRisk)
    return ['defer_until_checkpoint', 'gain_below_cost']
  return ['interrupt_now', 'gain_exceeds_cost']
}

/** Bits per unit of user cost that a question must gain; grows with the spent budget and with missing trust. */
export function gainThreshold(
  {spent_ratio: ratio, alert_threshold: alert}: Pick<AttentionState, 'spent_ratio' | 'alert_threshold'>,
  trust: number,
): number {
  const base = ratio <= alert ? 0.11 + 0.12 * (ratio / alert) : 0.23 + 0.35 * ((ratio - alert) / (1 - alert))
  return base + 0.08 * (1 - trust)
}
