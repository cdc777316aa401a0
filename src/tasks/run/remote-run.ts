import type {ManifestEntry} from '../../contracts/index.js'
import type {PlacementReason, WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import {appendLineage} from '../events/lineage.js'
import {clearOutput, replaceOutput} from '../lifecycle/output.js'
import {moveTask} from '../lifecycle/status.js'
import {requireRow, requireTask, type TaskRow, toTask} from '../lifecycle/task-rows.js'
import {recordAffinity, takeLocks, writesOf} from '../locks.js'
import {emitDecision} from '../routing/placement-event.js'
import {TaskRun} from './task-run.js'

/** What a task shows about its delegation. */
type Delegate = NonNullable<Task['remote_delegate']>

/** The run of a task on another node. Its changes are made in transactions of the caller. */
export class RemoteRun extends TaskRun {
  show(delegate: Delegate): void {
    this.context.store.run('UPDATE orch_tasks SET remote_delegate = ? WHERE id = ?', [
      JSON.stringify(delegate),
      this.task.id,
    ])
  }

  /** Records that the task was sent under a lease, with the placement and the lineage. */
  sent({leaseId, receiver}: {leaseId: string | null; receiver: string}): void {
    const row = this.heldRow()
    if (row === undefined) return
    place(this.context, row, 'populi_remote_lease_hold', leaseId)
    appendLineage(this.context, 'task_delegated', toTask(row), {lease_id: leaseId, receiver_agent_id: receiver})
  }

  /** Stores the end of the output of the other node, in place of what is known so far. */
  outputEnd(text: string): void {
    replaceOutput(this.context, this.task.id, this.generation, text)
  }

  /** Queues the task for a local agent; it is not sent again. Does nothing if the run no longer holds its claim. */
  runHere(reason: PlacementReason): void {
    const row = this.heldRow()
    if (row === undefined) return
    this.requeue(reason, {retry_count: row.retry_count})
    this.context.store.run("UPDATE orch_tasks SET delegation = 'local' WHERE id = ?", [row.id])
    place(this.context, {...row, status: 'Queued'}, reason, null)
  }
}

/** Stores the reason for the placement of a task, and emits its event. */
function place(context: WorkspaceContext, task: TaskRow, reason: PlacementReason, leaseId: string | null): void {
  context.store.run('UPDATE orch_tasks SET placement_reason = ? WHERE id = ?', [reason, task.id])
  emitDecision(context, task, {agentId: task.agent_id, reason, leaseId})
}

interface RemoteStarter {
  /** Name of the runner, as recorded in the task. */
  owner: string
  /** Maximum number of tasks. */
  limit: number
  /** What a task shows about its delegation. */
  delegateOf: (task: {id: number; uid: string; generation: number}) => Delegate
}

/**
 * Starts the next queued tasks that other nodes may run, in a transaction of the caller. From then on no local agent
 * starts them. A task whose files are in use stays queued.
 */
export function startRemoteRuns(context: WorkspaceContext, {limit, ...starter}: RemoteStarter): RemoteRun[] {
  const {store, repositoryId, now} = context
  const candidates = store.all<{id: number}>(
    `SELECT id FROM orch_tasks WHERE repository_id = @repository AND status = 'Queued' AND delegation = 'open'
  AND (not_before_ms IS NULL OR not_before_ms <= @now) AND (start_after_ms IS NULL OR start_after_ms <= @now)
ORDER BY priority DESC, id LIMIT @limit`,
    {repository: repositoryId, now: now(), limit},
  )
  return candidates.flatMap(({id}) => start(context, requireRow(context, id), starter) ?? [])
}

function start(
  context: WorkspaceContext,
  row: TaskRow,
  {owner, delegateOf}: Omit<RemoteStarter, 'limit'>,
): RemoteRun | undefined {
  const {id, uid, agent_id: agentId} = row
  const files = JSON.parse(row.file_manifest) as ManifestEntry[]
  if (takeLocks(context, {taskId: id, agentId, files, purpose: 'run'}) !== undefined) return undefined
  const generation = row.claim_generation + 1
  moveTask(context, row, 'InProgress', {
    claim_owner: owner,
    claim_generation: generation,
    claim_expires_ms: null,
    remote_delegate: JSON.stringify(delegateOf({id, uid, generation})),
  })
  clearOutput(context, id)
  recordAffinity(context, agentId, writesOf(files))
  return continueRemoteRun(context, id, generation)
}

/** The run of a task that was started on another node, by this daemon or an earlier one. @throws task_not_found */
export const continueRemoteRun = (context: WorkspaceContext, taskId: number, generation: number): RemoteRun =>
  new RemoteRun(context, {task: requireTask(context, taskId), generation})
