import os from 'node:os'
import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {processStart} from '../../process/index.js'
import {fileIdOf} from '../../store/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {isHeld, type LeaseRow, leaseTtlMs, leaseName as name, readLease} from '../base/daemon-lease.js'
import {appendEvent} from '../events/event-log.js'

/** Number of attempts with a locked store before the daemon gives up, each after the driver's own timeout. */
const tries = 5

/** The lease of a daemon on its workspace. Whatever the daemon writes about runs, it writes under the lease. */
export class DaemonLease {
  /** Interval between two renewals, ms. */
  static readonly renewalMs = 3000

  readonly #context: WorkspaceContext
  readonly #holder: string
  /** Fencing token of the term. */
  readonly fence: number

  constructor(context: WorkspaceContext, {holder, fence}: Pick<LeaseRow, 'holder' | 'fence'>) {
    this.#context = context
    this.#holder = holder
    this.fence = fence
  }

  /**
   * Checks within a transaction that this process still holds the lease. The transaction's writes are then either
   * committed before a takeover or not at all.
   * @throws daemon_replaced
   */
  require(): void {
    const {store, repositoryId} = this.#context
    const current = store.get<{fence: number}>('SELECT fence FROM orch_leases WHERE repository_id = ? AND name = ?', [
      repositoryId,
      name,
    ])
    if (current?.fence !== this.fence) throw new SvcError('daemon_replaced', {fence: current?.fence ?? 0})
  }

  /** Runs one transaction under the lease. @throws daemon_replaced, store_busy */
  transaction<T>(work: () => T): T {
    return this.#context.store.transaction(() => {
      this.require()
      return work()
    })
  }

  /** Runs one transaction under the lease, retried while another process writes. @throws as `transaction` */
  async write<T>(work: () => T): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        return this.transaction(work)
      } catch (error) {
        if (!isErrorOf(error, 'store_busy') || attempt === tries) throw error
        await sleep(100 * attempt)
      }
  }

  /** @throws daemon_replaced */
  renew(): void {
    const {store, repositoryId, now} = this.#context
    this.transaction(() =>
      store.run('UPDATE orch_leases SET expires_at_ms = ? WHERE repository_id = ? AND name = ?', [
        now() + leaseTtlMs,
        repositoryId,
        name,
      ]),
    )
  }

  /** Releases the lease if this process holds it. The row stays because it numbers the next term. */
  release(): void {
    const {store, repositoryId} = this.#context
    store.transaction(() => {
      const {changes} = store.run(
        "UPDATE orch_leases SET expires_at_ms = 0, pid = 0, process_start = '' WHERE repository_id = ? AND name = ? AND fence = ?",
        [repositoryId, name, this.fence],
      )
      if (changes > 0) appendEvent(this.#context, {type: 'daemon_stopped', holder: this.#holder, fence: this.fence})
    })
  }
}

/**
 * Takes the lease if it is free: there is no holder, its term is over, or its process on this machine has ended. A term
 * with an impossibly late end counts as over: the clock was set back.
 * @throws daemon_running
 */
export function takeLease(context: WorkspaceContext, holder: string): DaemonLease {
  const {store, repositoryId, now} = context
  return store.transaction(() => {
    const current = readLease(context)
    const at = now()
    if (current !== undefined && isHeld(current, context))
      throw new SvcError('daemon_running', {pid: current.pid, host: current.host})
    const row: LeaseRow = {
      holder,
      host: os.hostname(),
      pid: process.pid,
      process_start: processStart(process.pid) ?? '',
      fence: (current?.fence ?? 0) + 1,
      acquired_at_ms: at,
      expires_at_ms: at + leaseTtlMs,
      store_file: fileIdOf(store.path),
    }
    store.run(
      `INSERT INTO orch_leases (repository_id, name, holder, host, pid, process_start, fence, acquired_at_ms, expires_at_ms, store_file)
VALUES (@repository, @name, @holder, @host, @pid, @process_start, @fence, @acquired_at_ms, @expires_at_ms, @store_file)
ON CONFLICT DO UPDATE SET holder = excluded.holder, host = excluded.host, pid = excluded.pid,
  process_start = excluded.process_start, fence = excluded.fence, acquired_at_ms = excluded.acquired_at_ms,
  expires_at_ms = excluded.expires_at_ms, store_file = excluded.store_file`,
      {repository: repositoryId, name, ...row},
    )
    appendEvent(context, {type: 'daemon_started', holder, fence: row.fence})
    return new DaemonLease(context, row)
  })
}
