import {type Priority, submissionConfidence} from '../../workspace/index.js'
import {clamp} from '../base/clamp.js'
import type {InterruptionSignals} from './decide.js'

/** Bits that a question about a new task is expected to gain. */
const gains: Readonly<Record<Priority, number>> = {urgent: 0.22, normal: 0.16, background: 0.1}

/** True if the text mentions work that cannot be undone. */
export const isRisky = (text: string): boolean => /deploy|production|secret|delete|publish/i.test(text)

/** What is known about a question whether to start a new task. */
export interface SubmitFactors {
  description: string
  priority: Priority
  /** Number of files that the task writes. */
  writes: number
  /** Tasks that wait for approval. */
  backlog: number
  /** Trust in the agent, 0 to 1. */
  trust: number
}

export function submitSignals({description, priority, writes, backlog, trust}: SubmitFactors): InterruptionSignals {
  const risky = isRisky(description)
  const {confidence, contradiction} = submissionConfidence[risky ? 'risky' : 'other']
  return {
    channel: 'task_submit',
    expected_information_gain_bits: clamp(gains[priority] + 0.01 * writes, 0.05, 0.35),
    expected_user_cost: clamp(0.2 + Math.min(1, writes / 4) + (risky ? 0.2 : 0), 0.05, 1),
    confidence_estimate: confidence,
    contradiction_ratio: contradiction,
    pending_clarification_backlog: backlog,
    trust_score: trust,
    irreversible_or_high_risk: risky,
  }
}
