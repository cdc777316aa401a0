import {notify, type WorkspaceContext} from '../../workspace/index.js'
import {pruneObservations} from '../agents/trust.js'
import {pruneEvents} from '../events/event-log.js'
import {freeDeadClaims} from '../lifecycle/claim.js'
import {pruneOutput} from '../lifecycle/output.js'
import {sweepLocks} from '../locks.js'

/** Ends the claims of clients that have sent no heartbeat, and releases the locks of tasks that are over. */
export function releaseAbandoned(context: WorkspaceContext): void {
  freeDeadClaims(context)
  sweepLocks(context)
}

/** Deletes the records of tasks, and of the modules that listen, that are older than a number of days. */
export function pruneRecords(context: WorkspaceContext, days: number): void {
  pruneEvents(context, days)
  pruneOutput(context, days)
  pruneObservations(context, days)
  notify(context, 'cleanup', {retentionDays: days})
}
