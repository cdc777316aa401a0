import {createHash} from 'node:crypto'
import type {SubmitTaskV1} from '../../contracts/index.js'
import {type ErrorCode, isErrorOf, SvcError} from '../../errors/index.js'
import type {OrchestratorContext} from '../context.js'
import {appendEvent} from '../events/event-log.js'
import {linkLineage} from '../events/lineage.js'
import {given} from '../members.js'
import {submitTask} from '../tasks/submit.js'
import type {PlanNode} from './node.js'
import {nodeOfTask, setNodeStatus, settlePlan} from './node-status.js'
import {nodesOf, type PlanRow, requirePlan, updatePlan} from './plan-rows.js'
import {requirePlanning, strategyOf} from './planning.js'
import type {PlanMode} from './words.js'

/** What came of having a plan executed. */
export interface Execution {
  /** Tasks that were submitted now, in the order of their nodes. */
  task_ids: number[]
  ok: true
  /** Nodes that could be done now, were they not refused; they are tried again when another node is done or has failed. */
  held?: HeldNode[]
}

export interface HeldNode {
  node_id: string
  code: ErrorCode
  reason: string
}

/**
 * Has a plan worked through: every node of its latest version that waits for nothing becomes a task, and whenever one
 * is completed, those that waited for it alone do, until all are. Done again, it changes nothing that is under way.
 * @throws plan_not_found, planning_disabled, plan_mode_unsupported, orchestrator_disabled; why no node at all could be
 *   submitted
 */
export function executePlan(
  context: OrchestratorContext,
  planId: string,
  {tenantId, mode = 'auto'}: {tenantId?: string | undefined; mode?: PlanMode | undefined} = {},
): Execution {
  requirePlanning(context)
  strategyOf(mode)
  if (!context.config.enabled) throw new SvcError('orchestrator_disabled', {})
  return context.store.transaction(() => {
    const {plan_session_id: id} = requirePlan(context, planId)
    updatePlan(context, id, {status: 'active', ...given({tenant_id: tenantId})})
    const {taskIds, refused} = submitReady(context, requirePlan(context, id))
    settlePlan(context, {plan_session_id: id})
    const [first] = refused
    if (taskIds.length === 0 && first !== undefined) throw first.error
    return {
      task_ids: taskIds,
      ok: true,
      ...(refused.length === 0 ? {} : {held: refused.map(({node_id, error}) => heldNode(node_id, error))}),
    }
  })
}

const heldNode = (node_id: string, {code, message: reason}: SvcError): HeldNode => ({node_id, code, reason})

/** A task is over: where it did a node of a plan, the nodes that can be done now are submitted. */
export function advancePlan(context: OrchestratorContext, taskId: number): void {
  const node = nodeOfTask(context, taskId)
  if (node === undefined || !context.config.planningEnabled) return
  const plan = requirePlan(context, node.plan_session_id)
  if (plan.current_version !== node.version || plan.status === 'pending') return
  goOn(context, plan)
}

/** Submits what can be done now of a plan that is executed, where nobody waits for an answer. */
export function goOn(context: OrchestratorContext, plan: PlanRow): void {
  const {plan_session_id, current_version: version} = plan
  const {refused} = submitReady(context, plan)
  for (const {node_id, error} of refused) appendHeld(context, {plan_session_id, version, node_id}, error)
  settlePlan(context, plan)
}

const appendHeld = (
  context: OrchestratorContext,
  node: {plan_session_id: string; version: number; node_id: string},
  {code, message}: SvcError,
) => appendEvent(context, {type: 'plan_node_status', ...node, status: 'pending', reason: `${code}: ${message}`})

interface Refused {
  node_id: string
  error: SvcError
}

/** Submits every pending node whose dependencies are completed. */
function submitReady(context: OrchestratorContext, plan: PlanRow): {taskIds: number[]; refused: Refused[]} {
  const nodes = nodesOf(context, plan.plan_session_id, plan.current_version)
  const completed = new Set(nodes.filter(({status}) => status === 'completed').map(({node_id: id}) => id))
  const ready = nodes.filter(
    ({status, depends_on: ids}) => status === 'pending' && ids.every((id) => completed.has(id)),
  )
  const taskIds: number[] = []
  const refused: Refused[] = []
  for (const node of ready) {
    const outcome = trySubmit(context, plan, node)
    if (typeof outcome === 'number') taskIds.push(outcome)
    else refused.push({node_id: node.node_id, error: outcome})
  }
  return {taskIds, refused}
}

/** Refusals that say something of a node or of the moment, and nothing of the store. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'lock_conflict',
  'scope_denied',
  'queue_full',
  'max_agents_reached',
  'orchestrator_disabled',
  'task_invalid',
  'task_path_escapes',
])

/** @returns the id of the task, or why there is none */
function trySubmit(context: OrchestratorContext, plan: PlanRow, node: PlanNode, agent?: string): number | SvcError {
  try {
    return submitNode(context, plan, node, agent)
  } catch (error) {
    // Whoever has the files gets the node too: it waits for its turn there.
    if (agent === undefined && isErrorOf(error, 'lock_conflict'))
      return trySubmit(context, plan, node, error.params.holder)
    if (error instanceof SvcError && refusals.has(error.code)) return error
    throw error
  }
}

/** One node in a savepoint of its own: of one that is refused nothing is left. */
const submitNode = (context: OrchestratorContext, plan: PlanRow, node: PlanNode, agent: string | undefined): number =>
  context.store.transaction(() => {
    const {plan_session_id, current_version: version} = plan
    const {node_id} = node
    const {task_id: taskId} = submitTask(context, submissionOf(context, plan, node, agent))
    context.store.run('INSERT INTO plan_node_tasks (task_id, plan_session_id, version, node_id) VALUES (?, ?, ?, ?)', [
      taskId,
      plan_session_id,
      version,
      node_id,
    ])
    linkLineage(context, taskId, {plan_session_id, node_id})
    setNodeStatus(context, {plan_session_id, version, node_id}, 'queued', {taskId})
    return taskId
  })

function submissionOf(
  {config}: OrchestratorContext,
  {plan_session_id, origin_session_id, tenant_id}: PlanRow,
  {node_id, description, policy}: PlanNode,
  agent: string | undefined,
): SubmitTaskV1 {
  return {
    description,
    priority: 'normal',
    file_manifest: [...policy.file_manifest],
    thread_id: threadOf(plan_session_id, node_id),
    ...(config.planningAutoModeEnabled ? {} : {requires_approval: true}),
    ...given({
      enqueue_hints: policy.enqueue_hints,
      session_id: origin_session_id ?? undefined,
      tenant_id: tenant_id ?? undefined,
      target_agent: agent,
    }),
  }
}

/** The same for a node in every version and in every process. */
const threadOf = (planId: string, nodeId: string): string =>
  `plan-${createHash('sha256').update(`${planId}:${nodeId}`).digest('hex').slice(0, 16)}`
