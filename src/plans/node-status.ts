import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {appendEvent, displayTask} from '../tasks/index.js'
import type {TaskChangeEvents, TaskStatus, WorkspaceContext} from '../workspace/index.js'
import {type NodeKey, readyNodes} from './plan-rows.js'
import type {NodeStatus, PlanStatusWord} from './vocabulary.js'

export type NodeOfTask = NodeKey

/** Finds the node of a task with one index lookup; undefined for most tasks, which belong to no plan. */
export const nodeOfTask = ({store}: WorkspaceContext, taskId: number): NodeOfTask | undefined =>
  store.get<NodeOfTask>('SELECT plan_session_id, version, node_id FROM plan_node_tasks WHERE task_id = ?', [taskId])

/**
 * Rejects a retry if other nodes have replaced the failed node: the work would be done twice.
 * @throws plan_step_replaced
 */
export function refuseReplaced({store}: WorkspaceContext, taskId: number): void {
  const replaced = store.get<{plan: string; node: string; version: number}>(
    `SELECT p.plan_session_id AS plan, p.node_id AS node, s.current_version AS version
FROM plan_node_tasks p JOIN plan_sessions s ON s.plan_session_id = p.plan_session_id
WHERE p.task_id = ? AND p.version <> s.current_version`,
    [taskId],
  )
  if (replaced !== undefined) throw new SvcError('plan_step_replaced', {task: displayTask(taskId), ...replaced})
}

/** Node status for each task status. All waiting states, including approval, count as queued. */
const statusOfNode: Readonly<Record<TaskStatus, NodeStatus>> = {
  Queued: 'queued',
  Blocked: 'queued',
  BlockedOnApproval: 'queued',
  Doubted: 'queued',
  InProgress: 'in_progress',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
}

/** Updates the node of a task in the transaction that moved the task. */
export function updateNode(
  context: WorkspaceContext,
  {taskId, status: moved, reason, isRestored}: TaskChangeEvents['taskMoved'],
): void {
  const node = nodeOfTask(context, taskId)
  if (node === undefined) return
  if (!isRestored && (moved === 'Completed' || moved === 'Failed'))
    insertAttempt(context, node, {taskId, moved, reason})
  setNodeStatus(context, node, statusOfNode[moved], {taskId, ...withoutUndefined({reason})})
  settlePlan(context, node)
}

interface End {
  taskId: number
  moved: 'Completed' | 'Failed'
  reason: string | undefined
}

function insertAttempt({store, now}: WorkspaceContext, node: NodeOfTask, {taskId, moved, reason}: End): void {
  const {plan_session_id: plan, version, node_id: id} = node
  const at = now()
  store.run(
    `INSERT INTO plan_node_attempts (plan_session_id, version, node_id, attempt_no, task_id, outcome, error_text,
  latency_ms, created_at)
VALUES (@plan, @version, @id,
  (SELECT count(*) + 1 FROM plan_node_attempts WHERE plan_session_id = @plan AND node_id = @id),
  @task, @outcome, @error, (SELECT max(0, @at - started_at_ms) FROM orch_tasks WHERE id = @task), @at)`,
    {
      plan,
      version,
      id,
      task: taskId,
      outcome: moved === 'Completed' ? 'completed' : 'failed',
      error: moved === 'Failed' ? (reason ?? null) : null,
      at,
    },
  )
}

/** Sets the status of a node and emits the change, unless the status is the same or the node is superseded. */
export function setNodeStatus(
  context: WorkspaceContext,
  {plan_session_id, version, node_id}: NodeOfTask,
  status: NodeStatus,
  {taskId, reason}: {taskId?: number; reason?: string} = {},
): void {
  const {changes} = context.store.run(
    `UPDATE plan_nodes SET status = @status, held_reason = NULL, updated_at = @at
WHERE plan_session_id = @plan AND version = @version
  AND node_id = @node AND status NOT IN ('superseded', @status)`,
    {plan: plan_session_id, version, node: node_id, status, at: context.now()},
  )
  if (changes === 0) return
  appendEvent(context, {
    type: 'plan_node_status',
    plan_session_id,
    version,
    node_id,
    status,
    ...withoutUndefined({task_id: taskId, reason}),
  })
}

/** Records why a ready node was rejected; emits an event if the reason has changed. */
export function holdNode(
  context: WorkspaceContext,
  {plan_session_id, version, node_id}: NodeKey,
  reason: string,
): void {
  const {changes} = context.store.run(
    `UPDATE plan_nodes SET held_reason = @reason WHERE plan_session_id = @plan AND version = @version AND node_id = @node
  AND held_reason IS NOT @reason`,
    {plan: plan_session_id, version, node: node_id, reason},
  )
  if (changes > 0)
    appendEvent(context, {type: 'plan_node_status', plan_session_id, version, node_id, status: 'pending', reason})
}

/** Updates the status of an active plan from the nodes of its latest version. */
export function settlePlan(context: WorkspaceContext, {plan_session_id: id}: {plan_session_id: string}): void {
  const {store, now} = context
  const plan = store.get<{status: PlanStatusWord; version: number}>(
    'SELECT status, current_version AS version FROM plan_sessions WHERE plan_session_id = ?',
    [id],
  )
  if (plan === undefined || plan.status === 'pending') return
  const status = statusOf(context, id, plan.version)
  if (status !== plan.status)
    store.run('UPDATE plan_sessions SET status = ?, updated_at = ? WHERE plan_session_id = ?', [status, now(), id])
}

/** A plan has failed if nothing is in progress and nothing can continue. */
function statusOf(context: WorkspaceContext, id: string, version: number): PlanStatusWord {
  const statuses = new Set(
    context.store
      .all<{status: NodeStatus}>('SELECT DISTINCT status FROM plan_nodes WHERE plan_session_id = ? AND version = ?', [
        id,
        version,
      ])
      .map(({status}) => status),
  )
  const has = (...some: NodeStatus[]) => some.some((each) => statuses.has(each))
  if (statuses.size === 0 || (statuses.size === 1 && has('completed'))) return 'completed'
  if (has('queued', 'in_progress') || !has('failed', 'cancelled')) return 'active'
  return readyNodes(context, id, version).length > 0 ? 'active' : 'failed'
}
