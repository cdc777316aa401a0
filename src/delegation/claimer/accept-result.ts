import {join} from 'node:path'
import {MeshHttpError, type RemoteResult} from '../../mesh/index.js'
import {settleOutcome} from '../../scheduler/index.js'
import {
  chargeAgent,
  type DelegationRow,
  endDelegation,
  failTask,
  heldTask,
  recordStart,
  type TaskContext,
  TaskRun,
  toTask,
  type Usage,
  updateDelegation,
} from '../../tasks/index.js'
import {
  type BlobStore,
  RemoteFileError,
  receiveFiles,
  replaceFiles,
  requireUnchanged,
  restoreFiles,
} from './remote-files.js'

export interface Acceptance {
  client: BlobStore
  /** Runs a transaction under the lease of the daemon. */
  write<T>(change: () => T): Promise<T>
  signal: AbortSignal
}

/** Folder for the files of a result, and for those that it replaces until it is stored. */
export const stagingFolder = ({root}: Pick<TaskContext, 'root'>, {id}: DelegationRow): string =>
  join(root, '.svc', 'remote', String(id))

/**
 * Stores the result of a worker for a task that is held for the delegation. The written files enter the workspace before
 * the completion gates judge it, and the former ones are restored if the result is not accepted.
 * @throws MeshHttpError, the errors of the store and of files; the result can then be stored later
 */
export async function acceptResult(
  context: TaskContext,
  acceptance: Acceptance,
  row: DelegationRow,
  result: RemoteResult,
): Promise<void> {
  const {client, write, signal} = acceptance
  if (!result.success)
    return write(() => failDelegation(context, row, result.error ?? result.result ?? 'remote task failed', result))
  const {root} = context
  const task = heldTask(context, row)
  if (task === undefined) return write(() => failDelegation(context, row, ''))
  const written = result.files ?? []
  const folder = stagingFolder(context, row)
  try {
    await receiveFiles(folder, written, toTask(task).file_manifest, client)
    await requireUnchanged(root, written, JSON.parse(row.inputs_json))
  } catch (error) {
    if (!(error instanceof RemoteFileError || (error instanceof MeshHttpError && error.isMissing))) throw error
    await restoreFiles(root, folder, [])
    return write(() => failDelegation(context, row, error.message, result))
  }
  let isCompleted = false
  try {
    if (written.length > 0) {
      // From here on, a crash restores the files, and the result is read again.
      await write(() => updateDelegation(context, row.id, {applying_json: JSON.stringify(written)}))
      await replaceFiles(root, folder, written)
    }
    const {worker_node_id: worker, exec_lease_id, duration_ms, output} = result
    const details = {...result.details, remote: {worker_node_id: worker, exec_lease_id, duration_ms}}
    const text = result.result ?? ''
    const run = new TaskRun(context, {task: toTask(task), generation: row.generation})
    const judged = await run.judge({...details, text}, {signal})
    isCompleted = await write(() => {
      recordStart(context, row, {worker, output})
      const completion = settleOutcome(context, run, judged, {text, details, ...usageOf(result)})
      endDelegation(context, row, 'done')
      return completion.outcome === 'completed'
    })
  } finally {
    await restoreFiles(root, folder, isCompleted ? [] : written)
    if (!isCompleted && written.length > 0) await write(() => updateDelegation(context, row.id, {applying_json: null}))
  }
}

/** Fails the task of a delegation. If it is no longer held for the delegation, only the delegation ends. */
export function failDelegation(context: TaskContext, row: DelegationRow, reason: string, result?: RemoteResult): void {
  const task = heldTask(context, row)
  if (task === undefined) {
    endDelegation(context, row, 'cancelled', 'orchestrator_cancel')
    return
  }
  const usage = result === undefined ? undefined : usageOf(result).usage
  if (usage !== undefined) chargeAgent(context, task.agent_id, usage, task.id)
  failTask(context, row.task_id, reason, {generation: row.generation})
  endDelegation(context, row, 'done', 'failed')
}

/** Usage as reported by the worker; a record of it that is incomplete is not charged. */
function usageOf({usage}: RemoteResult): {usage?: Usage} {
  const {provider, model, inputTokens, outputTokens, costUsd} = (usage ?? {}) as Partial<Usage>
  const isComplete =
    typeof provider === 'string' &&
    typeof model === 'string' &&
    [inputTokens, outputTokens, costUsd].every((each) => typeof each === 'number' && each >= 0)
  return isComplete ? {usage: {provider, model, inputTokens, outputTokens, costUsd} as Usage} : {}
}
