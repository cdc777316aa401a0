import os from 'node:os'
import {SvcError} from '../../errors/index.js'
import {processStart} from '../../process/index.js'
import {
  appendEvent,
  isHeld,
  type DaemonLease as Lease,
  leaseTtlMs,
  leaseName as name,
  readLease,
  type TaskContext,
} from '../../tasks/index.js'

export type {Lease}

export const renewalMs = 3000

/**
 * Takes the lease if it is free: there is no holder, its term is over, or its process on this machine has ended. A term
 * with an impossibly late end counts as over: the clock was set back.
 * @throws daemon_running
 */
export function takeLease(context: TaskContext, holder: string): Lease {
  const {store, repositoryId, now} = context
  return store.transaction(() => {
    const current = readLease(context)
    const at = now()
    if (current !== undefined && isHeld(current, at))
      throw new SvcError('daemon_running', {pid: current.pid, host: current.host})
    const lease: Lease = {
      holder,
      host: os.hostname(),
      pid: process.pid,
      process_start: processStart(process.pid) ?? '',
      fence: (current?.fence ?? 0) + 1,
      acquired_at_ms: at,
      expires_at_ms: at + leaseTtlMs,
    }
    store.run(
      `INSERT INTO orch_leases (repository_id, name, holder, host, pid, process_start, fence, acquired_at_ms, expires_at_ms)
VALUES (@repository, @name, @holder, @host, @pid, @process_start, @fence, @acquired_at_ms, @expires_at_ms)
ON CONFLICT DO UPDATE SET holder = excluded.holder, host = excluded.host, pid = excluded.pid,
  process_start = excluded.process_start, fence = excluded.fence, acquired_at_ms = excluded.acquired_at_ms,
  expires_at_ms = excluded.expires_at_ms`,
      {repository: repositoryId, name, ...lease},
    )
    appendEvent(context, {type: 'daemon_started', holder, fence: lease.fence})
    return lease
  })
}

/**
 * Checks within a transaction that this process still holds the lease. The transaction's writes are then either
 * committed before a takeover or not at all.
 * @throws daemon_replaced
 */
export function requireLease({store, repositoryId}: TaskContext, {fence}: Lease): void {
  const current = store.get<{fence: number}>('SELECT fence FROM orch_leases WHERE repository_id = ? AND name = ?', [
    repositoryId,
    name,
  ])
  if (current?.fence !== fence) throw new SvcError('daemon_replaced', {fence: current?.fence ?? 0})
}

/** @throws daemon_replaced */
export function renewLease(context: TaskContext, lease: Lease): void {
  const {store, repositoryId, now} = context
  store.transaction(() => {
    requireLease(context, lease)
    store.run('UPDATE orch_leases SET expires_at_ms = ? WHERE repository_id = ? AND name = ?', [
      now() + leaseTtlMs,
      repositoryId,
      name,
    ])
  })
}

/** Releases the lease if this process holds it. The row stays because it numbers the next term. */
export function releaseLease(context: TaskContext, {fence, holder}: Lease): void {
  const {store, repositoryId} = context
  store.transaction(() => {
    const {changes} = store.run(
      "UPDATE orch_leases SET expires_at_ms = 0, pid = 0, process_start = '' WHERE repository_id = ? AND name = ? AND fence = ?",
      [repositoryId, name, fence],
    )
    if (changes > 0) appendEvent(context, {type: 'daemon_stopped', holder, fence})
  })
}
