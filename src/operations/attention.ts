import {clearDecision} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {OperationContext, Question} from './context.js'
import {object} from './schema.js'

/** A command is run by a person; the other bindings are used by agents. */
export const submitterOf = ({surface}: OperationContext): 'person' | 'agent' => (surface === 'cli' ? 'person' : 'agent')

/** Refuses new work of agents while the attention of the user is used up. @throws attention_exhausted */
export function requireAttention(context: OperationContext): void {
  if (submitterOf(context) === 'agent') context.modules.tasks.requireAttention(context.orchestrator)
}

/**
 * Asks the user before an agent executes a plan, if attention allows it.
 * @returns who executes the plan: a person, if the user has approved it
 * @throws plan_review_required
 */
export async function reviewPlan(context: OperationContext, planId: string): Promise<'person' | 'agent'> {
  const {modules, orchestrator, ask} = context
  const submitter = submitterOf(context)
  const decision = submitter === 'agent' ? modules.plans.considerPlan(orchestrator, planId) : undefined
  if (decision === undefined || !modules.tasks.isInterruption(decision)) return submitter
  if (ask === undefined) {
    if (modules.tasks.isPersonNeeded(decision)) throw new SvcError('plan_review_required', {plan: planId})
    return submitter
  }
  const answer = await ask(planForm(modules.plans.planStatus(orchestrator, planId)))
  const isApproved = clearDecision(answer?.approve)
  if (isApproved !== undefined)
    modules.plans.recordPlanReview(orchestrator, planId, isApproved ? 'approved' : 'rejected')
  if (isApproved !== true) throw new SvcError('plan_review_required', {plan: planId})
  return 'person'
}

/** Maximum number of steps to show to the user. */
const maxSteps = 20

function planForm({goal, steps}: {goal: string; steps: readonly {description: string}[]}): Question {
  const shown = steps.slice(0, maxSteps).map(({description}, i) => `${i + 1}. ${description}`)
  const rest = steps.length > maxSteps ? [`and ${steps.length - maxSteps} more`] : []
  return {
    message: [`Execute this plan? ${goal}`, ...shown, ...rest].join('\n'),
    schema: object({approve: {type: 'boolean', title: 'Execute the plan'}}, {required: ['approve'], open: true}),
  }
}
