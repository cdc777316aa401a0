import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {isHeld, readLease} from './daemon-lease.js'
import {deleteState, readState, writeState} from './state.js'

/** True if tasks of the workspace have to pass hidden checks. */
export const hasHiddenChecks = (context: WorkspaceContext): boolean =>
  context.hiddenChecks !== undefined || readState(context, 'hidden_checks') === true

/** Records whether this daemon has read hidden checks, for processes that cannot read their settings. */
export function announceHiddenChecks(context: WorkspaceContext): void {
  if (context.hiddenChecks === undefined) deleteState(context, 'hidden_checks')
  else writeState(context, 'hidden_checks', true)
}

/**
 * Requires that a running daemon has read the hidden checks, if the workspace has any: they are read before a worker
 * starts, so that it cannot change them.
 * @throws hidden_checks_unread
 */
export function requireHiddenChecksRead(context: WorkspaceContext): void {
  if (!hasHiddenChecks(context)) return
  const lease = readLease(context)
  const isRunning = lease !== undefined && isHeld(lease, context)
  // This process may be about to record it, after a reload.
  const isRead = lease?.pid === process.pid || readState(context, 'hidden_checks') === true
  if (!isRunning || !isRead) throw new SvcError('hidden_checks_unread', {isRunning})
}
