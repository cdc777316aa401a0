import {SvcError} from '../../errors/index.js'
import {orAborted} from '../../process/index.js'

/** Maximum number of requests and final results that wait. */
const maxWaiting = 16

/**
 * Runs requests one at a time, in order. Final results of live sessions count as waiting too, but run at once: the engine
 * alternates between them and the windows of a recording.
 */
export class RequestQueue {
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  /** Number of requests and final results that are running or waiting. */
  get pending(): number {
    return this.#pending
  }

  /** True if no further request is accepted: one runs, and all places are taken. */
  get isFull(): boolean {
    return this.#pending > maxWaiting
  }

  /**
   * Runs a request after those before it.
   * @throws overloaded if too many are waiting; the reason of the signal without waiting for the others
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.refuseIfFull()
    signal.throwIfAborted()
    return this.count(() => {
      const result = this.#last.then(async () => {
        signal.throwIfAborted()
        return work()
      })
      this.#last = result.catch(() => undefined)
      return orAborted(result, signal)
    })
  }

  /** @throws overloaded */
  refuseIfFull(): void {
    if (this.isFull) throw new SvcError('overloaded', {reason: `${maxWaiting} speech requests are already waiting.`})
  }

  /** Counts work that runs at once. */
  async count<T>(work: () => Promise<T>): Promise<T> {
    this.#pending++
    try {
      return await work()
    } finally {
      this.#pending--
    }
  }

  /** Resolves when the requests so far have ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}
