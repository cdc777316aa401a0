import type {Connection} from './connection.js'

export interface MutationQueueOptions<Run, Reply> {
  connection: Connection
  /** Starts a transaction. @throws if it cannot, after retries */
  begin(): Promise<void>
  /** Runs a mutation in the current transaction. */
  run(run: Run): Reply
  /** Mutations of one kind take about the same time. */
  kindOf(run: Run): unknown
  /** True for a reply whose writes are undone. */
  isRefused(reply: Reply): boolean
  /** Runs work while no one else uses the connection. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** Called after each commit. */
  onCommit(): void
}

/** Maximum number of mutations and duration (ms) of a transaction, so that no reply waits long for other mutations. */
const maxMutations = 64
const maxMs = 10
/** A mutation that takes longer than this starts a transaction, so that those before it do not wait for it, ms. */
const slowMs = 2

interface Waiting<Run, Reply> {
  run: Run
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/**
 * Runs the mutations of one iteration of the event loop in one transaction, since a commit costs more than most of them.
 * Each can fail or be undone alone. A mutation gets its reply after the commit, and never waits for others to arrive.
 */
export class MutationQueue<Run, Reply> {
  readonly #options: MutationQueueOptions<Run, Reply>
  readonly #waiting: Waiting<Run, Reply>[] = []
  /** Number of mutations at the head of the queue that run alone, because their joint transaction failed. */
  #alone = 0
  /** Kinds of mutations that were slow the last time. */
  readonly #slow = new Set<unknown>()
  #isScheduled = false

  constructor(options: MutationQueueOptions<Run, Reply>) {
    this.#options = options
  }

  /** Runs a mutation. @throws its errors, those of `begin` and of the commit */
  add(run: Run): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({run, resolve, reject})
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => void this.#options.exclusively(() => this.#serve()))
  }

  async #serve(): Promise<void> {
    const present = this.#waiting.length
    try {
      await this.#options.begin()
      this.#runGroup()
    } catch (error) {
      this.#options.connection.rollback()
      this.#alone = Math.max(0, this.#alone - present)
      for (const {reject} of this.#waiting.splice(0, present)) reject(error)
    }
    this.#isScheduled = false
    if (this.#waiting.length > 0) this.#schedule()
  }

  /** Runs mutations from the queue in the current transaction, and ends it. */
  #runGroup(): void {
    if (this.#alone === 0 && this.#waiting.length > 1) {
      this.#runTogether(this.#waiting.splice(0, maxMutations))
      return
    }
    if (this.#alone > 0) this.#alone--
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return
    const {run, resolve, reject} = waiting
    const {connection, isRefused, onCommit} = this.#options
    let reply: Reply
    let isUndone: boolean
    try {
      reply = this.#run(run)
      isUndone = isRefused(reply)
      if (isUndone) connection.rollback()
      else connection.commit()
    } catch (error) {
      connection.rollback()
      reject(error)
      return
    }
    if (!isUndone) onCommit()
    resolve(reply)
  }

  /** If the transaction fails, which none of the mutations need have caused, each runs again, alone. */
  #runTogether(group: Waiting<Run, Reply>[]): void {
    const started = performance.now()
    const {connection, onCommit} = this.#options
    const ends: (() => void)[] = []
    try {
      for (const waiting of group) {
        if (ends.length > 0 && this.#isSlow(waiting.run)) break
        ends.push(this.#runPart(waiting))
        if (performance.now() - started > maxMs) break
      }
      connection.commit()
    } catch {
      connection.rollback()
      this.#alone = group.length
      this.#waiting.unshift(...group)
      return
    }
    this.#waiting.unshift(...group.slice(ends.length))
    onCommit()
    for (const end of ends) end()
  }

  /** Returns a function that replies. @throws if the whole transaction failed */
  #runPart({run, resolve, reject}: Waiting<Run, Reply>): () => void {
    const {connection, isRefused} = this.#options
    connection.savepoint()
    try {
      const reply = this.#run(run)
      connection.release(isRefused(reply))
      return () => resolve(reply)
    } catch (error) {
      // SQLite undoes the whole transaction if, for example, the disk is full.
      if (!connection.database.inTransaction) throw error
      connection.release(true)
      return () => reject(error)
    }
  }

  #run(run: Run): Reply {
    const started = performance.now()
    try {
      return this.#options.run(run)
    } finally {
      const ms = performance.now() - started
      if (ms > slowMs) this.#slow.add(this.#options.kindOf(run))
      else if (this.#slow.size > 0) this.#slow.delete(this.#options.kindOf(run))
    }
  }

  #isSlow(run: Run): boolean {
    return this.#slow.size > 0 && this.#slow.has(this.#options.kindOf(run))
  }
}
