import type {Database, Statement} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {isLocked, unavailable} from './fault.js'
import type {Transaction} from './transaction.js'

/**
 * Durability of writes: `durable` writes are flushed to disk before they are confirmed; `heartbeats` survive a crash of
 * the process but are not flushed.
 */
export type Lane = 'durable' | 'heartbeats'

interface Waiting {
  work(transaction: Transaction): unknown
  resolve(value: never): void
  reject(error: unknown): void
  /** Monotonic time at which the lock of another process was first encountered, ms. */
  lockedAt?: number | undefined
}

export interface GroupCommitOptions {
  database: Database
  /** Time of a new transaction, Unix ms. */
  now: (undo: Transaction['undo']) => number
  /** Monotonic time, ms. */
  monotonic: () => number
  /** Timeout of the wait for the lock of another process, ms. */
  lockTimeoutMs: number
  /** Called before each transaction. @throws store_moved */
  requirePlace: () => void
  /** Hooks at the start and end of each transaction. */
  begin: (transaction: Transaction, lane: Lane) => void
  end: (transaction: Transaction, lane: Lane) => void
}

/** Maximum number of operations and duration (ms) of a transaction, so that the event loop is not blocked for long. */
const maxOperations = 256
const maxMs = 25
/** Retry interval while another process holds the lock, ms. */
const lockPollMs = 10

const laneNames = ['durable', 'heartbeats'] as const satisfies readonly Lane[]

/**
 * Groups the operations of one event-loop iteration into one transaction, since a disk flush costs the same for one as
 * for a hundred operations. A single operation is committed without waiting for others.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #start: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #lanes: Record<Lane, Waiting[]> = {durable: [], heartbeats: []}
  /** Number of operations at the head of a lane that are retried individually, after their joint transaction failed. */
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
   * Runs an operation in the next transaction of its lane. If it throws a catalogue error, only this operation fails;
   * it must not have written anything that depends on its success. Any other exception rolls back the transaction, and
   * all its operations are retried individually. Operations may therefore run twice.
   * @throws store_unavailable if the transaction failed
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

  /** Rejects new operations and resolves when all pending ones are done. */
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
    const {database, requirePlace} = this.#options
    try {
      requirePlace()
      // A failed transaction may still be open if its rollback failed.
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

  /** Polls for the lock instead of blocking, so that the event loop can continue. */
  #waitForLock(): void {
    const {monotonic, lockTimeoutMs} = this.#options
    const at = monotonic()
    for (const lane of laneNames) {
      const waiting = this.#lanes[lane]
      for (const each of waiting) each.lockedAt ??= at
      // Operations are in order of arrival.
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
    const outcomes: WorkOutcome[] = []
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
      const {value, refusal} = outcomes[i] as WorkOutcome
      if (refusal === undefined) resolve(value as never)
      else reject(refusal)
    }
  }

  /**
   * Runs operations up to the limits of a transaction. Adds an outcome for each attempted operation, even if it fails.
   */
  #runAll(lane: Lane, changes: (() => void)[], outcomes: WorkOutcome[]): void {
    const {now, monotonic, begin, end} = this.#options
    const max = this.#alone[lane] > 0 ? 1 : maxOperations
    const undo = (change: () => void) => void changes.push(change)
    const transaction: Transaction = {now: now(undo), undo}
    begin(transaction, lane)
    const until = monotonic() + maxMs
    for (const {work} of this.#lanes[lane]) {
      const outcome: WorkOutcome = {}
      outcomes.push(outcome)
      attempt(work, transaction, outcome)
      if (outcomes.length === max || monotonic() > until) break
    }
    end(transaction, lane)
  }

  /** After a failed transaction: schedules its operations individually, or rejects the operation that was alone. */
  #retryAlone(lane: Lane, tried: number, error: unknown): void {
    if (tried > 1) {
      this.#alone[lane] = tried
      return
    }
    const waiting = this.#lanes[lane]
    // If not even the start of the transaction succeeded, reject all operations.
    rejectAll(waiting.splice(0, tried || waiting.length), error)
    this.#settleAlone(lane, 1)
  }

  /** Counts operations at the head of a lane as done. */
  #settleAlone(lane: Lane, count: number): void {
    this.#alone[lane] = Math.max(0, this.#alone[lane] - count)
  }

  /** On a full disk, SQLite has already rolled back. The rollback itself may also fail. */
  #rollBack(): void {
    try {
      if (this.#options.database.inTransaction) this.#rollback.run()
    } catch {
      // It is retried before the next transaction.
    }
  }
}

interface WorkOutcome {
  value?: unknown
  refusal?: SvcError
}

/** Catches refusals; other exceptions fail the transaction. */
function attempt(work: Waiting['work'], transaction: Transaction, outcome: WorkOutcome): void {
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
