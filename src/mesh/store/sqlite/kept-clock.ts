import type {Database} from 'better-sqlite3'
import {type ClockSources, createClock, type KeptClock, resume} from './clock.js'
import type {Turn} from './group-commit.js'

export interface StoreClock {
  now(): number
  /**
   * Time of a transaction. Where the machine's clock is far ahead, this one goes there too, and what is held is held so
   * much longer.
   */
  begin(undo: Turn['undo']): number
  /** Whether the clock is what it has been for a while: none that was just set decides what has had its time. */
  isTried(now: number): boolean
  /** Writes down, once a second at most, a time that has not come: no row is ever beyond what is written. */
  keep(turn: Turn): void
  /** Writes down the time itself, when nothing comes after it. */
  keepLast(turn: Turn): void
}

/** How far ahead of time is written down, ms: less than that is written once. */
const aheadMs = 1000
/** How long a clock that has leapt is on trial, ms. */
const trialMs = 3_600_000

/**
 * Goes on with the clock of a file where it was left, and lets what was held then be held as much longer as nobody could
 * renew it: a control plane that starts again ends no lease.
 */
export function openClock(database: Database, sources: ClockSources): StoreClock {
  const read = database.prepare<[string], number>('SELECT value FROM mesh_counters WHERE name = ?').pluck()
  const write = database.prepare<[string, number]>(
    'INSERT INTO mesh_counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  let bound = 0
  const keep = (clock: number, ahead: number) => {
    write.run('clock', clock + ahead)
    write.run('clock_ahead', ahead)
    bound = clock + ahead
  }

  const goOn = database.transaction(() => {
    const clock = read.get('clock')
    const kept: KeptClock | undefined = clock === undefined ? undefined : {clock, ahead: read.get('clock_ahead') ?? 0}
    const {start, grace} = resume(kept, Math.floor(sources.wallClock()))
    if (kept !== undefined && grace > 0) holdLonger(database, kept.clock - kept.ahead, grace)
    keep(start, aheadMs)
    return start
  })
  const clock = createClock(goOn.immediate(), sources)
  let trialUntil = 0

  return {
    now: clock.now,
    begin(undo) {
      const before = clock.now()
      const leap = clock.leap()
      if (leap.byMs > 0) {
        undo(leap.undo)
        holdLonger(database, before, leap.byMs)
        trialUntil = before + leap.byMs + trialMs
      }
      return clock.now()
    },
    isTried: (now) => now >= trialUntil,
    keep(turn) {
      if (turn.now <= bound) return
      const before = bound
      turn.undo(() => {
        bound = before
      })
      keep(turn.now, aheadMs)
    },
    keepLast: (turn) => keep(turn.now, 0),
  }
}

/** Lets every lease and claim that held at a time hold longer. */
function holdLonger(database: Database, at: number, byMs: number): void {
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
