import type {TaskContext} from '../tasks/index.js'
import {nodeOfTask, settlePlan} from './node-status.js'
import {type PlanRow, plansWithHeld, requirePlan} from './plan-rows.js'
import {submitReady} from './submit-ready.js'

/** A task is over: where it did a node of a plan, the nodes that can be done now are submitted. */
export function advancePlanOf(context: TaskContext, taskId: number): void {
  const node = nodeOfTask(context, taskId)
  if (node === undefined) return
  const plan = requirePlan(context, node.plan_session_id)
  if (plan.current_version !== node.version || plan.status === 'pending') return
  advancePlan(context, plan)
}

/** Submits what can be done now of a plan that is executed, where nobody waits for an answer. */
export function advancePlan(context: TaskContext, plan: PlanRow): void {
  submitReady(context, plan)
  settlePlan(context, plan)
}

/** Tries again what was refused: a queue empties, a lock is released, a setting is another one by now. */
export function retryHeldPlans(context: TaskContext): void {
  if (!context.config.planningEnabled || !context.config.enabled) return
  for (const plan of plansWithHeld(context)) advancePlan(context, plan)
}
