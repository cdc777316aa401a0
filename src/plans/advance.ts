import type {WorkspaceContext} from '../workspace/index.js'
import {nodeOfTask, settlePlan} from './node-status.js'
import {type PlanRow, plansWithHeld, requirePlan} from './plan-rows.js'
import {submitReady} from './submit-ready.js'

/** Submits the nodes of a plan that became ready when one of its tasks ended; ignores other tasks. */
export function advancePlanOf(context: WorkspaceContext, taskId: number): void {
  const node = nodeOfTask(context, taskId)
  if (node === undefined) return
  const plan = requirePlan(context, node.plan_session_id)
  if (plan.current_version !== node.version || plan.status === 'pending') return
  advancePlan(context, plan)
}

/** Submits the ready nodes of an active plan in the background. */
export function advancePlan(context: WorkspaceContext, plan: PlanRow): void {
  submitReady(context, plan)
  settlePlan(context, plan)
}

/** Resubmits rejected nodes: the queue, locks or settings may have changed. */
export function retryHeldPlans(context: WorkspaceContext): void {
  if (!context.config.planningEnabled || !context.config.enabled) return
  for (const plan of plansWithHeld(context)) advancePlan(context, plan)
}
