import {join} from 'node:path'
import {MeshHttpError, type RemoteResult} from '../../mesh/index.js'
import type {Usage} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Delegation} from '../delegation.js'
import type {DelegationRow} from '../rows.js'
import {
  type BlobStore,
  RemoteFileError,
  receiveFiles,
  replaceFiles,
  requireUnchanged,
  restoreFiles,
} from './remote-files.js'

interface Acceptance {
  client: BlobStore
  signal: AbortSignal
}

/** Folder for the files of a result, and for those that it replaces until it is stored. */
export const stagingFolder = ({root}: Pick<WorkspaceContext, 'root'>, {id}: DelegationRow): string =>
  join(root, '.svc', 'remote', String(id))

/**
 * Stores the result of a worker for a task that waits for its delegation. The written files enter the workspace before
 * the completion gates judge it, and the former ones are restored if the result is not accepted.
 * @throws MeshHttpError, the errors of the store and of files; the result can then be stored later
 */
export async function acceptResult(
  context: WorkspaceContext,
  {client, signal}: Acceptance,
  delegation: Delegation,
  result: RemoteResult,
): Promise<void> {
  const {usage} = usageOf(result)
  if (!result.success) return delegation.fail(result.error ?? result.result ?? 'remote task failed', usage)
  const {root} = context
  const row = delegation.heldRow()
  if (row === undefined) return delegation.fail('')
  const {run} = delegation
  const written = result.files ?? []
  const folder = stagingFolder(context, row)
  try {
    await receiveFiles(folder, written, run.task.file_manifest, client)
    await requireUnchanged(root, written, JSON.parse(row.inputs_json))
  } catch (error) {
    if (!(error instanceof RemoteFileError || (error instanceof MeshHttpError && error.isMissing))) throw error
    await restoreFiles(root, folder, [])
    return delegation.fail(error.message, usage)
  }
  let isCompleted = false
  try {
    if (written.length > 0) {
      // From here on, a crash restores the files, and the result is read again.
      await delegation.markReplaced(written)
      await replaceFiles(root, folder, written)
    }
    const {worker_node_id: worker, exec_lease_id, duration_ms, output} = result
    const details = {...result.details, remote: {worker_node_id: worker, exec_lease_id, duration_ms}}
    const text = result.result ?? ''
    const judged = await run.judge({...details, text}, {signal})
    isCompleted = await delegation.settle(judged, {worker, output, outcome: {text, details, ...usageOf(result)}})
  } finally {
    await restoreFiles(root, folder, isCompleted ? [] : written)
    if (!isCompleted && written.length > 0) await delegation.markReplaced(null)
  }
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
