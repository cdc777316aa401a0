import {questioningPolicy as policy} from '../../workspace/index.js'

export const questionKinds = ['multiple_choice', 'open_ended', 'entry', 'assumption_confirm'] as const
export type QuestionKind = (typeof questionKinds)[number]

/** A question that could be asked. */
export interface QuestionCandidate {
  question_kind: QuestionKind
  prompt: string
  /** Bits. */
  expected_information_gain_bits: number
  /** 0 to 1. */
  expected_user_cost: number
}

export type ChosenQuestion = QuestionCandidate & {utility_bits_per_cost: number}

/** Why no question is asked. */
export type StopReason =
  | 'confidence_sufficient'
  | 'risk_gate_blocked'
  | 'attention_budget_exceeded'
  | 'max_clarification_turns'
  | 'marginal_gain_too_low'
  | 'user_cost_too_high'

/** The state of a conversation before its next question. */
export interface Situation {
  /** Confidence in an answer without the question, 0 to 1. */
  confidence: number
  /** The risk is too high for any answer, so an answer of the user does not help. */
  isRiskBlocked: boolean
  /** Attention that earlier questions took, ms. */
  attentionMs: number
  /** Number of questions already asked. */
  turns: number
}

type Estimate = Pick<QuestionCandidate, 'expected_information_gain_bits' | 'expected_user_cost'>

const gains = ({expected_information_gain_bits: gain}: Estimate): boolean => gain >= policy.minGainBits
const isAffordable = ({expected_user_cost: cost}: Estimate): boolean => cost <= policy.maxUserCost

/** Information gain per cost, in bits. */
export const utilityOf = ({expected_information_gain_bits: gain, expected_user_cost: cost}: Estimate): number =>
  gain / Math.max(cost, policy.minUserCost)

/** The question with the highest gain per cost within both limits; the first one if several are equal. */
export function chooseQuestion(candidates: readonly QuestionCandidate[]): ChosenQuestion | undefined {
  const within = candidates.filter((each) => gains(each) && isAffordable(each))
  const rated = within.map((each) => ({...each, utility_bits_per_cost: utilityOf(each)}))
  return rated.toSorted((a, b) => b.utility_bits_per_cost - a.utility_bits_per_cost)[0]
}

/** Why none of the candidates should be asked; undefined if one should. */
export function stopReason(situation: Situation, candidates: readonly Estimate[]): StopReason | undefined {
  if (situation.confidence >= policy.targetConfidence) return 'confidence_sufficient'
  if (situation.isRiskBlocked) return 'risk_gate_blocked'
  if (situation.attentionMs >= policy.maxAttentionMs) return 'attention_budget_exceeded'
  if (situation.turns >= policy.maxTurns) return 'max_clarification_turns'
  if (!candidates.some(gains)) return 'marginal_gain_too_low'
  return candidates.some((each) => gains(each) && isAffordable(each)) ? undefined : 'user_cost_too_high'
}
