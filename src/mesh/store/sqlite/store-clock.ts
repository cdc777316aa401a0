import type {Database, Statement} from 'better-sqlite3'
import {type Clock, type ClockSources, createClock, resume} from './clock.js'
import {prepareCounters} from './counters.js'
import {type Transaction, TransactionalValue} from './transaction.js'

/** Lead of the saved upper bound over the current time, ms: the clock is saved once per such interval. */
const aheadMs = 1000
/** Time after a leap during which the clock is not trusted for deletions, ms. */
const untrustedMs = 3_600_000

/**
 * Clock of a database file. On start it continues where it stopped, and extends leases and claims by the downtime, in
 * which they could not be renewed. Therefore a restart of the control plane does not end leases.
 */
export class StoreClock {
  readonly #database: Database
  readonly #write: Statement<[string, number]>
  readonly #clock: Clock
  /** Saved upper bound of all times, Unix ms. */
  readonly #bound = new TransactionalValue(0)
  #untrustedUntil = 0

  constructor(database: Database, sources: ClockSources) {
    const {read, write} = prepareCounters(database)
    this.#database = database
    this.#write = write
    const start = database.transaction(() => {
      const clock = read.get('clock')
      const saved = clock === undefined ? undefined : {clock, ahead: read.get('clock_ahead') ?? 0}
      const {start, grace} = resume(saved, Math.floor(sources.wallClock()))
      if (saved !== undefined && grace > 0) extendHolds(database, saved.clock - saved.ahead, grace)
      this.#bound.value = this.#save(start, aheadMs)
      return start
    })
    this.#clock = createClock(start.immediate(), sources)
  }

  now(): number {
    return this.#clock.now()
  }

  /**
   * Returns the time of a new transaction. If the system clock is far ahead, the clock leaps and all leases and claims
   * are extended by the same amount.
   */
  begin(undo: Transaction['undo']): number {
    const before = this.now()
    const leap = this.#clock.leap()
    if (leap.byMs > 0) {
      undo(leap.undo)
      extendHolds(this.#database, before, leap.byMs)
      this.#untrustedUntil = before + leap.byMs + untrustedMs
    }
    return this.now()
  }

  /** False for some time after a leap: a system clock that was just set must not cause deletions. */
  isTrusted(now: number): boolean {
    return now >= this.#untrustedUntil
  }

  /** Saves a future time at most once per second, so that no stored time is ever after the saved one. */
  saveBound(transaction: Transaction): void {
    if (transaction.now > this.#bound.value) this.#bound.set(transaction, this.#save(transaction.now, aheadMs))
  }

  /** Saves the exact time before the store is closed. */
  saveFinal({now}: Transaction): void {
    this.#save(now, 0)
  }

  #save(clock: number, ahead: number): number {
    this.#write.run('clock', clock + ahead)
    this.#write.run('clock_ahead', ahead)
    return clock + ahead
  }
}

/** Extends all leases and claims that were active at a time. */
function extendHolds(database: Database, at: number, byMs: number): void {
  database
    .prepare<[number, number]>(
      `UPDATE mesh_audit SET detail = json_set(detail, '$.expires_unix_ms', detail ->> '$.expires_unix_ms' + ?)
WHERE id IN (SELECT audit_id FROM mesh_exec_leases WHERE state = 'granted' AND expires_at > ?)`,
    )
    .run(byMs, at)
  database
    .prepare<[number, number]>(
      "UPDATE mesh_exec_leases SET expires_at = expires_at + ? WHERE state = 'granted' AND expires_at > ?",
    )
    .run(byMs, at)
  database
    .prepare<[number, number]>('UPDATE mesh_messages SET lease_expires = lease_expires + ? WHERE lease_expires > ?')
    .run(byMs, at)
}
