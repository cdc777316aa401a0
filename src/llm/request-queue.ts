import {counted, SvcError} from '../errors/index.js'
import {onAbort} from '../process/index.js'
import type {EngineCounters} from './counters.js'
import {FairQueue, type RequestClient} from './fair-queue.js'
import {isReady, type Job} from './job.js'
import type {Slots} from './slots.js'

export interface QueueOptions {
  /** Maximum number of concurrent requests. */
  slots: number
  /** Maximum number of requests that wait for a slot. */
  queueLimit: number
}

/** Requests that wait for their adapter or a slot, and the decision which of them runs. */
export class RequestQueue {
  readonly #slots: Slots
  readonly #options: QueueOptions
  readonly #counters: EngineCounters
  readonly #onChange: () => void
  readonly #waiting = new FairQueue<Job>()

  /** @param onChange called when a request can start, fails to, or is aborted */
  constructor(slots: Slots, options: QueueOptions, counters: EngineCounters, onChange: () => void) {
    this.#slots = slots
    this.#options = options
    this.#counters = counters
    this.#onChange = onChange
  }

  /** Whether a turn can start or remove a request. */
  get hasWork(): boolean {
    return this.#waiting.items.some((job) => isReady(job) || job.signal.aborted)
  }

  get length(): number {
    return this.#waiting.length
  }

  /** @throws overloaded if the queue, or the part of it that a client may fill, is full */
  requireRoom({id, share}: RequestClient): void {
    const {slots, queueLimit} = this.#options
    const ofClient = Math.ceil(share * queueLimit)
    const own = [...this.#waiting.items, ...this.#slots.jobs].filter(({client}) => client.id === id).length
    const all = this.#waiting.length + this.#slots.jobs.length
    if (all < slots + queueLimit && own < slots + ofClient) return
    const waiting = counted(all < slots + queueLimit ? ofClient : queueLimit, 'request is', 'requests are')
    throw new SvcError('overloaded', {reason: `The queue is full: ${waiting} waiting.`})
  }

  add(job: Job): void {
    this.#waiting.add(job)
    this.count()
    if (isReady(job)) this.#onChange()
    else this.#awaitAdapter(job)
  }

  /** Resolves when the adapter of a waiting request is in memory, or cannot be loaded. */
  async adapterLoaded(): Promise<void> {
    await Promise.race(this.#waiting.items.map(({adapter}) => adapter?.ready.catch(() => undefined)))
  }

  /** Adapters that are being read for waiting requests. */
  get loading(): Promise<void>[] {
    return this.#waiting.items.flatMap(({adapter}) => (adapter?.isLoading ? [adapter.ready] : []))
  }

  /** Removes aborted requests. */
  dropAborted(): void {
    for (const job of this.#waiting.items.filter(({signal}) => signal.aborted)) this.#forget(job)
  }

  /** Starts waiting requests, except those whose adapters are being loaded. */
  admit(): void {
    while (this.#slots.jobs.length < this.#options.slots || this.#interrupt()) {
      const job = this.#waiting.take(isReady)
      if (job === undefined) break
      if (job.interrupted !== undefined) {
        this.#slots.resume(job, job.interrupted)
        delete job.interrupted
        continue
      }
      job.prefilled = this.#slots.add(job)
      this.#counters.add('cachedTokens', job.prefilled)
      this.charge(job, job.promptTokens - job.prefilled)
      job.generation.start(job.prefilled)
    }
    this.count()
  }

  /** Adds tokens that were computed for the client of a request. */
  charge({client}: Job, tokens: number): void {
    this.#waiting.charge(client, tokens)
  }

  /** What was computed for the client of a request, to compare with others. */
  served({client}: Job): number {
    return this.#waiting.served(client)
  }

  /** Publishes how many requests wait and run. */
  count(): void {
    this.#counters.set('waiting', this.#waiting.length)
    this.#counters.set('running', this.#slots.jobs.length)
  }

  #awaitAdapter(job: Job): void {
    onAbort(job.signal, this.#onChange)
    job.adapter?.ready.then(this.#onChange, (error) => {
      if (!this.#waiting.items.includes(job)) return
      this.#forget(job)
      this.count()
      job.listener.fail(error)
    })
  }

  /** Removes a request that has not started. */
  #forget(job: Job): void {
    this.#waiting.delete(job)
    job.adapter?.release()
  }

  /**
   * Frees a slot for the next waiting request, if its client was served less than another one and has less than its part of
   * the slots. The interrupted request waits again with its keys and values, so that its reply has the same bytes. If they
   * were computed again, in one run, they could be rounded differently.
   */
  #interrupt(): boolean {
    const next = this.#waiting.next(isReady)
    if (next === undefined) return false
    const slots = ({client}: Job) => this.#slots.jobs.filter((job) => job.client.id === client.id).length
    const mayHave = (slots(next) + 1) / next.client.weight
    const job = this.#slots.jobs
      .filter((other) => this.served(other) > this.served(next) && (slots(other) - 1) / other.client.weight >= mayHave)
      .reduce<Job | undefined>(
        (latest, other) => (latest && latest.arrival > other.arrival ? latest : other),
        undefined,
      )
    if (job === undefined) return false
    job.interrupted = this.#slots.interrupt(job)
    this.#waiting.putBack(job)
    return true
  }
}
