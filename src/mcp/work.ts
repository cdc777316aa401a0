import {setImmediate as turn} from 'node:timers/promises'

/** What is being worked on. */
export class Work {
  readonly #running = new Set<Promise<unknown>>()

  add<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    return work.finally(() => this.#running.delete(work))
  }

  /** Resolves when all is done and answered: an answer goes out in the turn in which its work ends. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.allSettled(this.#running)
      await turn()
    }
  }
}
