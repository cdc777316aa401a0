import type {WorkspaceContext} from '../../workspace/index.js'
import {type AgentTrust, agentTrust} from './agent-trust.js'
import {type AttentionEvent, attentionState, type Counter, recordAttention} from './budget.js'
import {decideInterruption, type InterruptionDecision, type InterruptionSignals} from './decide.js'
import {outcomeEntropy} from './tier.js'

/** What a question is about. */
export interface QuestionSubject {
  /** Name of the tool or operation that asks. */
  surface: string
  /** Event to record if the question interrupts the user. */
  type: AttentionEvent['event_type']
  agent?: {id: number; name: string} | undefined
  task?: {id: number; complexity: number} | undefined
}

export const isPersonNeeded = ({decision}: InterruptionDecision): boolean =>
  decision === 'require_human_before_continue'

/** True if the user is to be asked now. */
export const isInterruption = (decision: InterruptionDecision): boolean =>
  decision.decision === 'interrupt_now' || isPersonNeeded(decision)

/** How a decision is recorded. @property type undefined if the user is interrupted */
export function outcomeOf(decision: InterruptionDecision): {
  type?: 'policy_proceed_auto' | 'policy_deferred'
  counters: readonly Counter[]
} {
  if (isInterruption(decision)) return {counters: []}
  const isDropped = decision.decision === 'proceed_autonomously'
  return {type: isDropped ? 'policy_proceed_auto' : 'policy_deferred', counters: ['inbox_suppressed_count']}
}

/** Complexity that is recorded for a question without a task. */
const usualComplexity = 5

/**
 * Decides whether a question interrupts the user, and records the decision, in a transaction of the caller. The answer
 * is charged when it is given. Undefined if attention is off.
 */
export function considerInterruption(
  context: WorkspaceContext,
  signals: InterruptionSignals,
  subject: QuestionSubject,
): InterruptionDecision | undefined {
  if (!context.config.attentionEnabled) return undefined
  const decision = decideInterruption(signals, attentionState(context))
  const {type = subject.type, counters} = outcomeOf(decision)
  recordQuestion(context, {...subject, type}, {signals, decision}, {cost_ms: 0}, counters)
  return decision
}

/** Charges the attention that the answer to a question took, in a transaction of the caller. */
export function chargeAnswer(
  context: WorkspaceContext,
  signals: InterruptionSignals,
  subject: QuestionSubject,
  outcome?: 'approved' | 'rejected',
): void {
  if (!context.config.attentionEnabled) return
  const decision = decideInterruption(signals, attentionState(context))
  const charge = {cost_ms: decision.scaled_cost_ms, ...(outcome === undefined ? {} : {outcome})}
  recordQuestion(context, subject, {signals, decision}, charge, outcome === 'rejected' ? ['rejected'] : [])
}

function recordQuestion(
  context: WorkspaceContext,
  {surface, type, agent, task}: QuestionSubject,
  {signals, decision}: {signals: InterruptionSignals; decision: InterruptionDecision},
  charge: Pick<AttentionEvent, 'cost_ms' | 'outcome'>,
  counters: readonly Counter[],
): void {
  recordAttention(
    context,
    {
      ...(agent === undefined ? {} : {agent_id: agent.id}),
      ...(task === undefined ? {} : {task_id: task.id}),
      event_type: type,
      ...charge,
      ...measures({complexity: task?.complexity ?? usualComplexity}, agentTrust(context, agent?.name)),
      channel: signals.channel,
      policy_reason: decision.reason,
      decision: recordOf(context, surface, signals, decision),
    },
    counters,
  )
}

export const measures = ({complexity}: {complexity: number}, {trust, successRate}: AgentTrust) => ({
  trust_score_at_time: trust,
  effective_complexity: complexity,
  decision_entropy_bits: outcomeEntropy(successRate),
})

export function recordOf(
  {now}: Pick<WorkspaceContext, 'now'>,
  surface: string,
  signals: InterruptionSignals,
  decision: InterruptionDecision,
) {
  const {channel, pending_clarification_backlog = 0, trust_score = 0, ...others} = signals
  return {
    surface,
    channel,
    ...decision,
    timestamp_ms: now(),
    signals: {
      expected_information_gain_bits: others.expected_information_gain_bits,
      expected_user_cost: others.expected_user_cost,
      confidence_estimate: others.confidence_estimate,
      contradiction_ratio: others.contradiction_ratio,
      pending_clarification_backlog,
      trust_score,
      irreversible_or_high_risk: others.irreversible_or_high_risk,
    },
  }
}
