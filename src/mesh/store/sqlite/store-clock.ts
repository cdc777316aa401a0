import type {Database, Statement} from 'better-sqlite3'
import {type Clock, type ClockSources, createClock, resume} from './clock.js'
import {prepareCounters} from './counters.js'
import {type Transaction, TransactionalValue} from './transaction.js'

/** How far ahead of time is written down, ms: less than that is written once. */
const aheadMs = 1000
/** How long a clock that has leapt is on trial, ms. */
const trialMs = 3_600_000

/**
 * Continues the clock of a file where it was left, and extends what was held then by the time for which nobody could
 * renew it: a control plane that starts again ends no lease.
 */
export class StoreClock {
  readonly #database: Database
  readonly #write: Statement<[string, number]>
  readonly #clock: Clock
  /** The time that is written down. */
  readonly #bound = new TransactionalValue(0)
  #trialUntil = 0

  constructor(database: Database, sources: ClockSources) {
    const {read, write} = prepareCounters(database)
    this.#database = database
    this.#write = write
    const start = database.transaction(() => {
      const clock = read.get('clock')
      const kept = clock === undefined ? undefined : {clock, ahead: read.get('clock_ahead') ?? 0}
      const {start, grace} = resume(kept, Math.floor(sources.wallClock()))
      if (kept !== undefined && grace > 0) extendHolds(database, kept.clock - kept.ahead, grace)
      this.#bound.value = this.#save(start, aheadMs)
      return start
    })
    this.#clock = createClock(start.immediate(), sources)
  }

  now(): number {
    return this.#clock.now()
  }

  /**
   * Time of a transaction. Where the machine's clock is far ahead, this one goes there too, and what is held is held so
   * much longer.
   */
  begin(undo: Transaction['undo']): number {
    const before = this.now()
    const leap = this.#clock.leap()
    if (leap.byMs > 0) {
      undo(leap.undo)
      extendHolds(this.#database, before, leap.byMs)
      this.#trialUntil = before + leap.byMs + trialMs
    }
    return this.now()
  }

  /** Whether the clock is what it has been for a while: none that was just set decides what has had its time. */
  isTried(now: number): boolean {
    return now >= this.#trialUntil
  }

  /** Writes down, once a second at most, a time that has not come: no row is ever beyond what is written. */
  keep(transaction: Transaction): void {
    if (transaction.now > this.#bound.value) this.#bound.set(transaction, this.#save(transaction.now, aheadMs))
  }

  /** Writes down the time itself, when nothing comes after it. */
  keepLast({now}: Transaction): void {
    this.#save(now, 0)
  }

  #save(clock: number, ahead: number): number {
    this.#write.run('clock', clock + ahead)
    this.#write.run('clock_ahead', ahead)
    return clock + ahead
  }
}

/** Extends every lease and claim that held at a time. */
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
