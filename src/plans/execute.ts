import {withoutUndefined} from '../contracts/index.js'
import {type ErrorCode, SvcError} from '../errors/index.js'
import type {Accepted, Submitter} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

import {requireIds} from './new-plan.js'
import {settlePlan} from './node-status.js'
import {failedNodes, requirePlan, updatePlan} from './plan-rows.js'
import {requirePlanning, strategyOf} from './planning.js'
import {submitReady} from './submit-ready.js'
import type {PlanMode} from './vocabulary.js'

/** The result of executing a plan. */
export interface Execution {
  /** Tasks that were submitted by this call, in node order. */
  task_ids: number[]
  ok: true
  /** Ready nodes whose submission was rejected; they are retried automatically. */
  held?: HeldNode[]
}

export interface HeldNode {
  node_id: string
  code: ErrorCode
  reason: string
}

interface ExecuteOptions {
  tenantId?: string | undefined
  mode?: PlanMode | undefined
  submitter?: Submitter | undefined
}

/**
 * Executes a plan: every ready node of its latest version becomes a task. When a task completes, the nodes that became
 * ready are submitted, until all are done. Repeating the call does not affect work in progress.
 * @param submitter who executes the plan; the tasks of an agent may need the approval of a person
 * @throws plan_not_found, planning_disabled, plan_mode_unsupported, plan_id_too_long, orchestrator_disabled,
 *   plan_stuck; the rejection if no node could be submitted
 */
export function executePlan(context: WorkspaceContext, planId: string, options: ExecuteOptions = {}): Execution {
  const {accepted, held} = startPlan(context, planId, options)
  return {
    task_ids: accepted.map(({task_id: id}) => id),
    ok: true,
    ...withoutUndefined({held: held.length === 0 ? undefined : held}),
  }
}

/** Executes a plan, and returns its accepted tasks. @throws as `executePlan` */
export function startPlan(
  context: WorkspaceContext,
  planId: string,
  {tenantId, mode = 'auto', submitter = 'person'}: ExecuteOptions,
): {accepted: Accepted[]; held: HeldNode[]} {
  requirePlanning(context)
  strategyOf(mode)
  requireIds({tenant_id: tenantId})
  if (!context.config.enabled) throw new SvcError('orchestrator_disabled', {})
  return context.store.transaction(() => {
    const {plan_session_id: id} = requirePlan(context, planId)
    updatePlan(context, id, {
      status: 'active',
      executed_by: submitter,
      ...withoutUndefined({tenant_id: tenantId}),
    })
    const {accepted, refused} = submitReady(context, requirePlan(context, id))
    settlePlan(context, {plan_session_id: id})
    const [first] = refused
    if (accepted.length === 0 && first !== undefined) throw first.error
    if (requirePlan(context, id).status === 'failed')
      throw new SvcError('plan_stuck', {plan: id, nodes: failedNodes(context, id)})
    return {accepted, held: refused.map(({node_id, error}) => heldNode(node_id, error))}
  })
}

const heldNode = (node_id: string, {code, message: reason}: SvcError): HeldNode => ({node_id, code, reason})
