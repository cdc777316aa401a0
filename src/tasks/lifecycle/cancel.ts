import {type ManifestEntry, withoutUndefined} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {recordVerdict, type Submitter} from '../attention/review.js'
import {appendEvent} from '../events/event-log.js'
import {appendLineage} from '../events/lineage.js'
import {forgetAffinity, releaseLocks, writesOf} from '../locks.js'
import {attentionSubject} from './attention-subject.js'
import {dependencyFailed, doomedBy} from './dependencies.js'
import {formerAgent, returnToAgent} from './return-to-agent.js'
import {moveTask} from './status.js'
import {requireRow, type TaskRow, toTask} from './task-rows.js'

export interface CancelOptions {
  reason?: string | undefined
  /** If a person cancels a task that waits for approval, this counts as a rejection. */
  by?: Submitter | undefined
}

/**
 * Cancels a task; its dependants fail. The process that runs it finds out because its claim is no longer valid.
 * @throws invalid_transition
 */
export function cancelRow(context: WorkspaceContext, found: TaskRow, {reason, by}: CancelOptions = {}): void {
  // The resolution agent holds only doubted tasks.
  const row = found.status === 'Doubted' ? returnToAgent(context, found, formerAgent(found)) : found
  if (by === 'person' && row.status === 'BlockedOnApproval') recordVerdict(context, attentionSubject(row), 'rejected')
  moveTask(context, row, 'Cancelled', {
    status_reason: reason ?? null,
    claim_generation: row.claim_generation + 1,
  })
  giveUpFiles(context, row)
  appendEvent(context, {
    type: 'task_cancelled',
    task_id: row.id,
    agent_id: row.agent_id,
    ...withoutUndefined({reason}),
  })
  failDependants(context, row.id)
}

/** Releases the locks of a task that did not complete, and its agent's affinity to the files. */
export function giveUpFiles(context: WorkspaceContext, row: TaskRow): void {
  releaseLocks(context, row.id)
  forgetAffinity(context, formerAgent(row), writesOf(JSON.parse(row.file_manifest) as ManifestEntry[]))
}

/** Fails all tasks that depend, directly or indirectly, on a task that will never complete. */
export function failDependants(context: WorkspaceContext, id: number): void {
  for (const {id: doomed, because} of doomedBy(context, id)) failWaiting(context, requireRow(context, doomed), because)
}

/** Fails a task that never started; this does not count against its agent. */
export function failWaiting(context: WorkspaceContext, row: TaskRow, because: number): void {
  const reason = dependencyFailed(because)
  moveTask(context, row, 'Failed', {status_reason: reason})
  giveUpFiles(context, row)
  appendEvent(context, {type: 'task_failed', task_id: row.id, agent_id: row.agent_id, error: reason})
  appendLineage(context, 'task_failed', toTask(row), {reason})
}
