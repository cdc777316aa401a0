import type {Database, Statement} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {isLocked, unavailable} from './fault.js'
import type {Transaction} from './transaction.js'

/**
 * How safe a write is: `durable` is on the disk when it is answered; `heartbeats` survives the death of the process, and
 * costs no flush.
 */
export type Lane = 'durable' | 'heartbeats'

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

const laneNames = ['durable', 'heartbeats'] as const satisfies readonly Lane[]

/**
 * Puts the operations of one iteration of the event loop into one transaction: a flush of the disk costs as much for a
 * hundred of them as for one. Nobody waits for company: whoever comes alone is written alone.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #start: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #lanes: Record<Lane, Waiting[]> = {durable: [], heartbeats: []}
  /** Operations at the head of a lane that are tried alone, as a transaction with all of them has failed. */
  readonly #alone: Record<Lane, number> = {durable: 0, heartbeats: 0}
  #isScheduled = false
  #flushing: Lane | undefined
  #onDrained: (() => void) | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
    this.#start = options.database.prepare('BEGIN IMMEDIATE')
    this.#commit = options.database.prepare('COMMIT')
    this.#rollback = options.database.prepare('ROLLBACK')
  }

  /**
   * Runs an operation in the next transaction of its lane. One that throws a row of the catalogue is refused, alone: it
   * must not have changed anything that is not so for everybody. Any other exception undoes the whole transaction; those
   * that were in it are then tried again, each in one of its own, so that none suffers from another. Work may run twice.
   * @throws store_unavailable where nothing was written
   */
  run<T>(lane: Lane, work: (transaction: Transaction) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#onDrained !== undefined) return reject(unavailable(new Error('it is closed')))
      this.#lanes[lane].push({work, resolve, reject})
      this.#schedule()
    })
  }

  get depth(): number {
    return this.#lanes.durable.length + this.#lanes.heartbeats.length
  }

  /** Takes no more, and ends when nothing waits. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained = resolve
      if (this.depth === 0) resolve()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#serve())
  }

  #serve(): void {
    this.#isScheduled = false
    for (const lane of laneNames) {
      if (this.#lanes[lane].length === 0) continue
      const began = this.#beginIn(lane)
      if (began === 'locked') {
        this.#waitForLock()
        return
      }
      if (began === 'begun') this.#write(lane)
      else this.#alone[lane] = 0
    }
    if (this.depth > 0) this.#schedule()
    else this.#onDrained?.()
  }

  #beginIn(lane: Lane): 'begun' | 'locked' | 'failed' {
    const {database} = this.#options
    try {
      // One that could not be undone when it failed.
      if (database.inTransaction) this.#rollback.run()
      if (this.#flushing !== lane) database.pragma(`synchronous = ${lane === 'durable' ? 'FULL' : 'NORMAL'}`)
      this.#flushing = lane
      this.#start.run()
      return 'begun'
    } catch (error) {
      if (isLocked(error)) return 'locked'
      rejectAll(this.#lanes[lane].splice(0), error)
      return 'failed'
    }
  }

  /** Whoever reads and answers goes on meanwhile: the lock is looked at now and then, not waited for. */
  #waitForLock(): void {
    const {monotonic, lockTimeoutMs} = this.#options
    const at = monotonic()
    for (const lane of laneNames) {
      const waiting = this.#lanes[lane]
      for (const each of waiting) each.lockedAt ??= at
      // They stand in the order that they came in.
      const end = waiting.findIndex(({lockedAt = at}) => at - lockedAt <= lockTimeoutMs)
      const expired = waiting.splice(0, end === -1 ? waiting.length : end)
      this.#settleAlone(lane, expired.length)
      rejectAll(expired, Object.assign(new Error('database is locked'), {code: 'SQLITE_BUSY'}))
    }
    if (this.depth === 0) this.#onDrained?.()
    else {
      this.#isScheduled = true
      setTimeout(() => this.#serve(), lockPollMs)
    }
  }

  #write(lane: Lane): void {
    const waiting = this.#lanes[lane]
    const changes: (() => void)[] = []
    const outcomes: Outcome[] = []
    try {
      this.#runAll(lane, changes, outcomes)
      this.#commit.run()
    } catch (error) {
      for (const change of changes.reverse()) change()
      this.#rollBack()
      this.#retryAlone(lane, outcomes.length, error)
      return
    }
    this.#settleAlone(lane, outcomes.length)
    for (const [i, {resolve, reject}] of waiting.splice(0, outcomes.length).entries()) {
      const {value, refusal} = outcomes[i] as Outcome
      if (refusal === undefined) resolve(value as never)
      else reject(refusal)
    }
  }

  /** Runs as many operations as a transaction takes. An outcome stands for each that was tried, also for one that failed. */
  #runAll(lane: Lane, changes: (() => void)[], outcomes: Outcome[]): void {
    const {now, monotonic, begin, end} = this.#options
    const most = this.#alone[lane] > 0 ? 1 : mostOperations
    const undo = (change: () => void) => void changes.push(change)
    const transaction: Transaction = {now: now(undo), undo}
    begin(transaction, lane)
    const until = monotonic() + longestMs
    for (const {work} of this.#lanes[lane]) {
      const outcome: Outcome = {}
      outcomes.push(outcome)
      attempt(work, transaction, outcome)
      if (outcomes.length === most || monotonic() > until) break
    }
    end(transaction, lane)
  }

  /** After a transaction that failed: each of its operations is tried alone, and one that was alone is rejected. */
  #retryAlone(lane: Lane, tried: number, error: unknown): void {
    if (tried > 1) {
      this.#alone[lane] = tried
      return
    }
    const waiting = this.#lanes[lane]
    // What was not tried yet is tried next, unless no transaction even begins.
    rejectAll(waiting.splice(0, tried || waiting.length), error)
    this.#settleAlone(lane, 1)
  }

  /** So many operations at the head of a lane are done with. */
  #settleAlone(lane: Lane, count: number): void {
    this.#alone[lane] = Math.max(0, this.#alone[lane] - count)
  }

  /** SQLite has ended the transaction itself where the disk is full; where it fails, this may fail too. */
  #rollBack(): void {
    try {
      if (this.#options.database.inTransaction) this.#rollback.run()
    } catch {
      // It is tried again before the next one.
    }
  }
}

interface Outcome {
  value?: unknown
  refusal?: SvcError
}

/** Any exception but a refusal fails the transaction. */
function attempt(work: Waiting['work'], transaction: Transaction, outcome: Outcome): void {
  try {
    outcome.value = work(transaction)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    outcome.refusal = error
  }
}

function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const {reject} of batch) reject(unavailable(error))
}
