import type {TaskContext} from '../base/context.js'
import {given} from '../base/members.js'
import type {ManifestEntry} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {appendLineage} from '../events/lineage.js'
import {forgetAffinity, releaseLocks, writesOf} from '../locks.js'
import {dependencyFailed, doomedBy} from './dependencies.js'
import {moveTask} from './status.js'
import {requireRow, type TaskRow, toTask} from './task-rows.js'

/**
 * Cancels a task; what waits for it fails. Whoever runs it finds out by its claim, which no longer counts.
 * @throws invalid_transition
 */
export function cancelRow(context: TaskContext, row: TaskRow, reason?: string): void {
  moveTask(context, row, 'Cancelled', {
    status_reason: reason ?? null,
    claim_generation: row.claim_generation + 1,
  })
  giveUpFiles(context, row)
  appendEvent(context, {
    type: 'task_cancelled',
    task_id: row.id,
    agent_id: row.agent_id,
    ...given({reason}),
  })
  failDependants(context, row.id)
}

/** A task that did not end well has no claim to its files any more: locks, and the preference of its agent. */
export function giveUpFiles(context: TaskContext, row: TaskRow): void {
  releaseLocks(context, row.id)
  forgetAffinity(
    context,
    row.doubted_agent_id ?? row.agent_id,
    writesOf(JSON.parse(row.file_manifest) as ManifestEntry[]),
  )
}

/** What waits for a task that will never be completed fails, and what waits for that. */
export function failDependants(context: TaskContext, id: number): void {
  for (const {id: doomed, because} of doomedBy(context, id)) failWaiting(context, requireRow(context, doomed), because)
}

/** The end of a task that never began; it says nothing of its agent. */
export function failWaiting(context: TaskContext, row: TaskRow, because: number): void {
  const reason = dependencyFailed(because)
  moveTask(context, row, 'Failed', {status_reason: reason})
  giveUpFiles(context, row)
  appendEvent(context, {type: 'task_failed', task_id: row.id, agent_id: row.agent_id, error: reason})
  appendLineage(context, 'task_failed', toTask(row), {reason})
}
