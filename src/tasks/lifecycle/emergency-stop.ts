import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {type EmergencyStop, readState, writeState} from '../base/state.js'
import {appendEvent} from '../events/event-log.js'
import {requeueRow} from './finish.js'
import {selectTask, type TaskRow} from './task-rows.js'

/** The current emergency stop; undefined if the orchestrator accepts and starts tasks. */
export const emergencyStopOf = (context: WorkspaceContext): EmergencyStop | undefined =>
  readState(context, 'emergency_stop') ?? undefined

/** @throws stopped */
export function requireNotStopped(context: WorkspaceContext): void {
  const stop = emergencyStopOf(context)
  if (stop !== undefined) throw new SvcError('stopped', {reason: stop.reason})
}

/**
 * Stops everything: running tasks are queued again, and nothing is accepted, started or claimed until
 * `startOrchestrator`. Results of the ended runs are rejected. Tasks held by other nodes continue there.
 * @returns ids of the tasks that were running
 */
export function emergencyStop(context: WorkspaceContext, reason?: string): number[] {
  const {store, repositoryId, now} = context
  return store.transaction(() => {
    writeState(context, 'emergency_stop', {at_ms: now(), ...withoutUndefined({reason})})
    const running = store.all<TaskRow>(
      `${selectTask} WHERE t.repository_id = ? AND t.status = 'InProgress' AND t.remote_delegate IS NULL ORDER BY t.id`,
      [repositoryId],
    )
    appendEvent(context, {type: 'emergency_stop', requeued: running.length, ...withoutUndefined({reason})})
    for (const row of running) requeueRow(context, row, 'emergency_stop')
    return running.map(({id}) => id)
  })
}

/** Accepts and starts tasks again after an emergency stop. Returns false if there was none. */
export const startOrchestrator = (context: WorkspaceContext): boolean =>
  context.store.transaction(() => {
    if (emergencyStopOf(context) === undefined) return false
    writeState(context, 'emergency_stop', null)
    appendEvent(context, {type: 'orchestrator_started'})
    return true
  })
