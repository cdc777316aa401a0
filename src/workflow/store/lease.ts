import os from 'node:os'
import {SvcError} from '../../errors/index.js'
import {isAlive, processStart} from '../../process/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {completedOfRun, type RunRow, type RunStatus, requireRun} from './runs.js'

/** Duration of the lease of a run without renewal, ms. */
export const leaseTtlMs = 30_000

/** Which kind of process drives a run. */
export type DriverKind = 'command' | 'daemon'

/** An owner of leases: unique for each drive of a run. */
export const leaseOwner = (kind: DriverKind): string => `workflow-${kind}-${process.pid}-${process.hrtime.bigint()}`

/** The process that drives a run. */
export interface RunDriver {
  kind: DriverKind
  pid: number
  host: string
}

/** Undefined if no process drives the run. */
export function driverOf(run: RunRow, at: number): RunDriver | undefined {
  const {lease_owner: owner, lease_pid: pid, lease_host: host} = run
  if (owner === null || pid === null || host === null || !isHeld(run, at)) return undefined
  return {kind: owner.startsWith('workflow-daemon-') ? 'daemon' : 'command', pid, host}
}

/** The status of a run as people see it. */
export type RunState = RunStatus | 'queued' | 'interrupted'

/**
 * A run that is `running` in the store although no process drives it is `interrupted`, or still `queued` if none ever did;
 * a daemon or `svc workflow resume` continues it.
 */
export function stateOf(run: RunRow, at: number): RunState {
  if (run.status !== 'running' || isHeld(run, at)) return run.status
  return run.lease_owner === null && run.updated_at_ms === run.started_at_ms ? 'queued' : 'interrupted'
}

/**
 * Takes the lease of a run if it is free: it has none, it has expired, or its process on this machine has ended.
 * @throws workflow_run_not_found, workflow_lease_held
 */
export function takeLease(context: WorkspaceContext, runId: string, owner: string): RunRow {
  const {store, now} = context
  return store.transaction(() => {
    const run = requireRun(context, runId)
    const at = now()
    if (isHeld(run, at)) throw leaseHeld(run)
    // A failed run that is resumed runs again.
    store.run(
      `UPDATE workflow_run_log SET status = 'running', lease_owner = ?, lease_until_ms = ?, lease_host = ?, lease_pid = ?,
  lease_process_start = ?, wake_at_ms = ?, completed_at_ms = NULL, updated_at_ms = ? WHERE run_id = ?`,
      [owner, at + leaseTtlMs, os.hostname(), process.pid, processStart(process.pid) ?? '', at + leaseTtlMs, at, runId],
    )
    return requireRun(context, runId)
  })
}

/** True if the process that holds the lease of a run seems to be running. */
export function isHeld(run: RunRow, at: number): boolean {
  const {lease_owner: owner, lease_until_ms: until, lease_host: host, lease_pid: pid, lease_process_start: start} = run
  if (owner === null || until === null) return false
  const isInTerm = until > at && until <= at + leaseTtlMs
  if (host !== os.hostname() || pid === null) return isInTerm
  // On this machine the process itself is more reliable than a clock, if its start time identifies it.
  return isAlive(pid, start ?? '') && isInTerm
}

export const leaseHeld = ({run_id: run, lease_pid: pid, lease_host: host}: RunRow): SvcError =>
  new SvcError('workflow_lease_held', {run, pid: pid ?? 0, host: host ?? ''})

/** The lease of a run. */
export interface Lease {
  readonly runId: string
  readonly owner: string
}

/**
 * Checks the lease, within the transaction of a step. The writes of the transaction are then either committed before
 * another process takes the run over, or not at all.
 * @returns true if the run is to be cancelled
 * @throws workflow_lease_lost
 */
export function requireLease({store}: WorkspaceContext, {runId, owner}: Lease): boolean {
  const run = store.get<{cancel_requested_at_ms: number | null; is_unwinding: number}>(
    'SELECT cancel_requested_at_ms, is_unwinding FROM workflow_run_log WHERE run_id = ? AND lease_owner = ?',
    [runId, owner],
  )
  if (run === undefined) throw new SvcError('workflow_lease_lost', {run: runId})
  return run.cancel_requested_at_ms !== null && run.is_unwinding === 0
}

/** Prolongs the lease. No effect if it was lost. */
export function renewLease({store, now}: WorkspaceContext, {runId, owner}: Lease): void {
  const at = now()
  store.run(
    `UPDATE workflow_run_log SET lease_until_ms = ?, wake_at_ms = ?, updated_at_ms = ?, completed_steps = ${completedOfRun}
WHERE run_id = ? AND lease_owner = ?`,
    [at + leaseTtlMs, at + leaseTtlMs, at, runId, owner],
  )
}

/** What becomes of a run when its process lets go of it. */
export interface Release {
  readonly status: RunRow['status']
  /** When another process can continue, Unix ms; null: when it is woken. */
  readonly wakeAtMs?: number | null
  readonly error?: string | undefined
  readonly output?: unknown
}

/** Ends the lease, with the outcome of the run. No effect if the lease was lost. */
export function releaseLease(
  {store, now}: WorkspaceContext,
  {runId, owner}: Lease,
  {status, wakeAtMs = null, error, output}: Release,
): void {
  const at = now()
  const isEnd = status === 'completed' || status === 'failed' || status === 'cancelled'
  store.run(
    `UPDATE workflow_run_log SET status = ?, lease_owner = NULL, lease_until_ms = NULL, lease_host = NULL, lease_pid = NULL,
  lease_process_start = NULL, wake_at_ms = ?, updated_at_ms = ?, completed_at_ms = ?,
  completed_steps = ${completedOfRun}, last_error = coalesce(?, last_error), output_json = ?
WHERE run_id = ? AND lease_owner = ?`,
    [
      status,
      isEnd ? null : wakeAtMs,
      at,
      isEnd ? at : null,
      error ?? null,
      output === undefined ? null : JSON.stringify(output),
      runId,
      owner,
    ],
  )
}
