import os from 'node:os'
import {isAlive} from '../../process/index.js'
import {fileIdOf} from '../../store/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

/** The row of the process that runs the tasks of a workspace. */
export interface LeaseRow {
  holder: string
  host: string
  pid: number
  /** Start time of the process as reported by the system, which distinguishes processes with a reused pid. */
  process_start: string
  /** Fencing token of the holder's term; increases with every term. */
  fence: number
  acquired_at_ms: number
  expires_at_ms: number
  /** The file of the store. The lease in a copy of a workspace is that of the daemon of the original. */
  store_file: string
}

export const leaseName = 'daemon'
/** Duration of the lease without renewal, ms; it is renewed several times within this period. */
export const leaseTtlMs = 15_000

export const readLease = ({store, repositoryId}: WorkspaceContext): LeaseRow | undefined =>
  store.get<LeaseRow>('SELECT * FROM orch_leases WHERE repository_id = ? AND name = ?', [repositoryId, leaseName])

/** True if the holder of a lease seems to be running. */
export function isHeld(
  {host, pid, process_start: start, expires_at_ms: expires, store_file: file}: LeaseRow,
  {store, now}: WorkspaceContext,
): boolean {
  const at = now()
  const isInTerm = expires > at && expires <= at + leaseTtlMs
  if (host !== os.hostname()) return isInTerm
  if (file !== '' && file !== fileIdOf(store.path)) return false
  // On this machine the process itself is more reliable than a clock, if its start time identifies it.
  return isAlive(pid, start) && (start !== '' || isInTerm)
}

/** The lease of the daemon that seems to be running; undefined if there is none. */
export function runningDaemon(context: WorkspaceContext): LeaseRow | undefined {
  const lease = readLease(context)
  return lease !== undefined && isHeld(lease, context) ? lease : undefined
}
