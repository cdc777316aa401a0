import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {isLocked, unavailable} from './fault.js'
import type {Transaction} from './transaction.js'

/**
 * How safe a write is: `durable` is on the disk when it is answered; `heartbeats` survives the death of the process, and
 * costs no flush.
 */
export type Lane = 'durable' | 'heartbeats'

export interface GroupCommit {
  /**
   * Runs an operation in the next transaction of its lane. One that throws a row of the catalogue is refused, alone: it
   * must not have changed anything that is not so for everybody. Any other exception undoes the whole transaction; those
   * that were in it are then tried again, each in one of its own, so that none suffers from another. Work may run twice.
   * @throws store_unavailable where nothing was written
   */
  run<T>(lane: Lane, work: (transaction: Transaction) => T): Promise<T>
  /** Operations that wait. */
  readonly depth: number
  /** Takes no more, and ends when nothing waits. */
  drain(): Promise<void>
}

interface Waiting {
  work(transaction: Transaction): unknown
  resolve(value: never): void
  reject(error: unknown): void
  /** When it first met the lock of another program, ms of the monotonic clock. */
  lockedAt?: number | undefined
}

export interface GroupCommitOptions {
  database: Database
  /** Time of a transaction that has begun. */
  now: (undo: Transaction['undo']) => number
  /** ms that have passed. */
  monotonic: () => number
  /** How long an operation waits for the lock of another program, ms. */
  lockTimeoutMs: number
  /** What is done at the start and at the end of each transaction. */
  begin: (transaction: Transaction, lane: Lane) => void
  end: (transaction: Transaction, lane: Lane) => void
}

/** Most operations of a transaction, and the time after which it takes no more, ms: the event loop is not held for long. */
const mostOperations = 256
const longestMs = 25
/** How often a lock of another process is looked at, ms. */
const lockPollMs = 10

/**
 * Puts the operations of one iteration of the event loop into one transaction: a flush of the disk costs as much for a
 * hundred of them as for one. Nobody waits for company: whoever comes alone is written alone.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const {database, now, monotonic, lockTimeoutMs, begin, end} = options
  const lanes: Record<Lane, Waiting[]> = {durable: [], heartbeats: []}
  const [start, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map((sql) => database.prepare(sql))
  /** Operations at the head of a lane that are tried alone, as a transaction with all of them has failed. */
  const alone: Record<Lane, number> = {durable: 0, heartbeats: 0}
  let isScheduled = false
  let flushing: Lane | undefined
  let onDrained: (() => void) | undefined

  const depth = () => lanes.durable.length + lanes.heartbeats.length

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(serve)
  }

  function serve(): void {
    isScheduled = false
    for (const lane of ['durable', 'heartbeats'] as const) {
      if (lanes[lane].length === 0) continue
      const began = beginIn(lane)
      if (began === 'locked') {
        waitForLock()
        return
      }
      if (began === 'begun') write(lanes[lane], lane)
      else alone[lane] = 0
    }
    if (depth() > 0) schedule()
    else onDrained?.()
  }

  function beginIn(lane: Lane): 'begun' | 'locked' | 'failed' {
    try {
      // One that could not be undone when it failed.
      if (database.inTransaction) rollback?.run()
      if (flushing !== lane) database.pragma(`synchronous = ${lane === 'durable' ? 'FULL' : 'NORMAL'}`)
      flushing = lane
      start?.run()
      return 'begun'
    } catch (error) {
      if (isLocked(error)) return 'locked'
      rejectAll(lanes[lane].splice(0), error)
      return 'failed'
    }
  }

  /** Whoever reads and answers goes on meanwhile: the lock is looked at now and then, not waited for. */
  function waitForLock(): void {
    const at = monotonic()
    for (const lane of ['durable', 'heartbeats'] as const) {
      for (const each of lanes[lane]) each.lockedAt ??= at
      // They stand in the order that they came in.
      const end = lanes[lane].findIndex(({lockedAt = at}) => at - lockedAt <= lockTimeoutMs)
      const expired = lanes[lane].splice(0, end === -1 ? lanes[lane].length : end)
      alone[lane] = Math.max(0, alone[lane] - expired.length)
      rejectAll(expired, Object.assign(new Error('database is locked'), {code: 'SQLITE_BUSY'}))
    }
    if (depth() === 0) onDrained?.()
    else {
      isScheduled = true
      setTimeout(serve, lockPollMs)
    }
  }

  function write(waiting: Waiting[], lane: Lane): void {
    const most = alone[lane] > 0 ? 1 : mostOperations
    const changes: (() => void)[] = []
    const outcomes: Outcome[] = []
    let tried = 0
    try {
      const undo = (change: () => void) => void changes.push(change)
      const transaction: Transaction = {now: now(undo), undo}
      begin(transaction, lane)
      const until = monotonic() + longestMs
      for (const {work} of waiting) {
        tried += 1
        outcomes.push(attempt(work, transaction))
        if (tried === most || monotonic() > until) break
      }
      end(transaction, lane)
      commit?.run()
    } catch (error) {
      for (const change of changes.reverse()) change()
      rollBack()
      if (tried > 1) {
        alone[lane] = tried
        return
      }
      // What was not tried yet is tried next, unless no transaction even begins.
      rejectAll(waiting.splice(0, tried || waiting.length), error)
      alone[lane] = Math.max(0, alone[lane] - 1)
      return
    }
    alone[lane] = Math.max(0, alone[lane] - tried)
    for (const [i, {resolve, reject}] of waiting.splice(0, tried).entries()) {
      const {value, refusal} = outcomes[i] as Outcome
      if (refusal === undefined) resolve(value as never)
      else reject(refusal)
    }
  }

  /** SQLite has ended the transaction itself where the disk is full; where it fails, this may fail too. */
  function rollBack(): void {
    try {
      if (database.inTransaction) rollback?.run()
    } catch {
      // It is tried again before the next one.
    }
  }

  return {
    run: (lane, work) =>
      new Promise((resolve, reject) => {
        if (onDrained !== undefined) return reject(unavailable(new Error('it is closed')))
        lanes[lane].push({work, resolve, reject})
        schedule()
      }),
    get depth() {
      return depth()
    },
    drain: () =>
      new Promise((resolve) => {
        onDrained = resolve
        if (depth() === 0) resolve()
      }),
  }
}

interface Outcome {
  value?: unknown
  refusal?: SvcError
}

function attempt(work: Waiting['work'], transaction: Transaction): Outcome {
  try {
    return {value: work(transaction)}
  } catch (error) {
    if (error instanceof SvcError) return {refusal: error}
    throw error
  }
}

function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const {reject} of batch) reject(unavailable(error))
}
