import {setImmediate as nextIteration} from 'node:timers/promises'

export class RunningRequests {
  readonly #running = new Set<Promise<unknown>>()

  add<T>(request: Promise<T>): Promise<T> {
    this.#running.add(request)
    return request.finally(() => this.#running.delete(request))
  }

  /** Resolves when all responses are sent: a response is sent in the event-loop iteration in which its request ends. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.allSettled(this.#running)
      await nextIteration()
    }
  }
}
