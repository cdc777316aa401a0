import type {ManifestEntry} from '../contracts/index.js'
import {
  chargeAnswer,
  considerInterruption,
  type InterruptionDecision,
  type InterruptionSignals,
  type QuestionSubject,
  submitSignals,
} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {nodesOf, requirePlan} from './plan-rows.js'

const subject: QuestionSubject = {surface: 'svc_plan_execute', type: 'plan_review'}

/**
 * Decides whether an agent must ask the user before it executes a plan for the first time. Undefined if it need not:
 * attention is off, the plan is already being executed, or each of its tasks waits for approval.
 * @throws plan_not_found
 */
export function considerPlan(context: WorkspaceContext, planId: string): InterruptionDecision | undefined {
  const {status} = requirePlan(context, planId)
  if (status !== 'pending' || !context.config.planningAutoModeEnabled) return undefined
  return context.store.transaction(() => considerInterruption(context, signalsOf(context, planId), subject))
}

/** Charges the attention that the review of a plan by the user took. @throws plan_not_found */
export const recordPlanReview = (context: WorkspaceContext, planId: string, outcome: 'approved' | 'rejected'): void =>
  context.store.transaction(() => chargeAnswer(context, signalsOf(context, planId), subject, outcome))

function signalsOf(context: WorkspaceContext, planId: string): InterruptionSignals {
  const {plan_session_id, current_version, goal_text} = requirePlan(context, planId)
  const nodes = nodesOf(context, plan_session_id, current_version)
  const writes = nodes
    .flatMap(({policy}) => policy.file_manifest)
    .filter(({access}: ManifestEntry) => access === 'write')
  const description = [goal_text, ...nodes.map((node) => node.description)].join('\n')
  const signals = submitSignals({description, priority: 'normal', writes: writes.length, backlog: 0, trust: 0.3})
  return {...signals, channel: 'plan_review'}
}
