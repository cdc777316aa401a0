import type {TaskContext} from '../base/context.js'
import type {ManifestEntry} from '../base/task.js'
import type {PlacementReason} from '../base/vocabulary.js'
import {appendLineage} from '../events/lineage.js'
import {requeueRow} from '../lifecycle/finish.js'
import {clearOutput, replaceOutput} from '../lifecycle/output.js'
import {moveTask} from '../lifecycle/status.js'
import {requireRow, type TaskRow, toTask} from '../lifecycle/task-rows.js'
import {recordAffinity, takeLocks, writesOf} from '../locks.js'
import {emitDecision} from '../routing/placement-event.js'
import {type DelegationRow, delegationWithKey, heldTask, updateDelegation} from './delegation-rows.js'

export interface Delegator {
  /** Name of the runner, as recorded in the task. */
  owner: string
  claimer: string
  receiver: string
  replyTo: string
  /** Maximum number of tasks. */
  limit: number
}

/**
 * Takes the next queued tasks that other nodes may run, in a transaction of the caller. From then on no local agent
 * starts them. A task whose files are in use stays queued.
 */
export function beginDelegations(context: TaskContext, delegator: Delegator): DelegationRow[] {
  const {store, repositoryId, now} = context
  const candidates = store.all<{id: number}>(
    `SELECT id FROM orch_tasks WHERE repository_id = @repository AND status = 'Queued' AND delegation = 'open'
  AND (not_before_ms IS NULL OR not_before_ms <= @now) AND (start_after_ms IS NULL OR start_after_ms <= @now)
ORDER BY priority DESC, id LIMIT @limit`,
    {repository: repositoryId, now: now(), limit: delegator.limit},
  )
  return candidates.flatMap(({id}) => begin(context, requireRow(context, id), delegator) ?? [])
}

function begin(context: TaskContext, row: TaskRow, delegator: Delegator): DelegationRow | undefined {
  const {store, repositoryId, now} = context
  const files = JSON.parse(row.file_manifest) as ManifestEntry[]
  if (takeLocks(context, {taskId: row.id, agentId: row.agent_id, files, purpose: 'run'}) !== undefined) return undefined
  const generation = row.claim_generation + 1
  // Workspaces that share workers number their tasks alike, and workers find cancellations by this key.
  const key = `orch-remote-${row.id}-${now()}-${generation}-${row.uid.slice(0, 8)}`
  const {owner, claimer, receiver, replyTo} = delegator
  moveTask(context, row, 'InProgress', {
    claim_owner: owner,
    claim_generation: generation,
    claim_expires_ms: null,
    remote_delegate: JSON.stringify({idempotency_key: key, claimer_node_id: claimer}),
  })
  clearOutput(context, row.id)
  recordAffinity(context, row.agent_id, writesOf(files))
  store.run(
    `INSERT INTO mesh_delegations (repository_id, task_id, task_uid, generation, idempotency_key, state, claimer_node_id,
  receiver_agent_id, reply_to_agent_id, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, ?, 'granting', ?, ?, ?, ?, ?)`,
    [repositoryId, row.id, row.uid, generation, key, claimer, receiver, replyTo, now(), now()],
  )
  return delegationWithKey(context, key)
}

/** Records the lease of a delegation. Returns false if the task is no longer held for it. */
export function recordLease(context: TaskContext, key: string, leaseId: string): boolean {
  const row = delegationWithKey(context, key)
  if (row === undefined || heldTask(context, row) === undefined) return false
  updateDelegation(context, row.id, {state: 'held', lease_id: leaseId})
  showDelegation(context, {...row, lease_id: leaseId})
  return true
}

/** Shows the lease and the worker of a delegation in its task. */
function showDelegation({store}: TaskContext, row: DelegationRow): void {
  const delegate = {
    idempotency_key: row.idempotency_key,
    claimer_node_id: row.claimer_node_id,
    ...(row.lease_id === null ? {} : {lease_id: row.lease_id, fence_token: Number(row.lease_id)}),
    ...(row.worker_node_id === null ? {} : {worker_node_id: row.worker_node_id}),
  }
  store.run('UPDATE orch_tasks SET remote_delegate = ? WHERE id = ?', [JSON.stringify(delegate), row.task_id])
}

/** Records that the control plane has the envelope, with the placement and the lineage. Returns false as `recordLease`. */
export function recordRelay(context: TaskContext, key: string, messageId: number): boolean {
  const row = delegationWithKey(context, key)
  const task = row === undefined ? undefined : heldTask(context, row)
  if (row === undefined || task === undefined) return false
  // A worker can have started the task before the response to the delivery arrived.
  updateDelegation(context, row.id, {
    message_id: messageId,
    ...(row.state === 'started' ? {} : {state: 'relayed' as const}),
  })
  place(context, task, 'populi_remote_lease_hold', row.lease_id)
  const {lease_id, receiver_agent_id} = row
  appendLineage(context, 'task_delegated', toTask(task), {lease_id, receiver_agent_id})
  return true
}

/**
 * Records that a worker runs the task, and the end of its output. Does nothing if the delegation is over.
 * @param output the end of the output so far
 */
export function recordStart(
  context: TaskContext,
  row: DelegationRow,
  {worker = row.worker_node_id, output}: {worker?: string | null | undefined; output?: string | undefined} = {},
): void {
  if (heldTask(context, row) === undefined) return
  if (row.state !== 'started' || row.worker_node_id !== worker) {
    updateDelegation(context, row.id, {state: 'started', worker_node_id: worker})
    showDelegation(context, {...row, worker_node_id: worker})
  }
  if (output) replaceOutput(context, row.task_id, row.generation, output)
}

/**
 * Ends a delegation without a result: its task is queued for a local agent, and is not sent again. If the task is no
 * longer held for the delegation, only the delegation ends.
 * @returns true if the task was queued
 */
export function fallBack(context: TaskContext, key: string, reason: PlacementReason, detail: string): boolean {
  const row = delegationWithKey(context, key)
  const task = row === undefined ? undefined : heldTask(context, row)
  if (row === undefined) return false
  if (task === undefined) {
    endDelegation(context, row, 'cancelled', detail)
    return false
  }
  endDelegation(context, row, 'superseded', detail)
  requeueRow(context, task, reason, {retry_count: task.retry_count})
  context.store.run("UPDATE orch_tasks SET delegation = 'local' WHERE id = ?", [task.id])
  place(context, {...task, status: 'Queued'}, reason, null)
  return true
}

/** Ends a delegation; does nothing if it has already ended. */
export function endDelegation(
  context: TaskContext,
  row: DelegationRow,
  state: 'done' | 'superseded' | 'cancelled',
  detail: string | null = null,
): void {
  const current = delegationWithKey(context, row.idempotency_key)
  if (
    current === undefined ||
    current.state === 'done' ||
    current.state === 'superseded' ||
    current.state === 'cancelled'
  )
    return
  updateDelegation(context, row.id, {state, end_reason: detail, applying_json: null})
}

/** Stores the reason for the placement of a task, and emits its event. */
function place(context: TaskContext, task: TaskRow, reason: PlacementReason, leaseId: string | null): void {
  context.store.run('UPDATE orch_tasks SET placement_reason = ? WHERE id = ?', [reason, task.id])
  emitDecision(context, task, {agentId: task.agent_id, reason, leaseId})
}
