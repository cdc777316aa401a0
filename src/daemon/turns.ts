/** Something that has work to do in small steps, and can stop between any two of them. */
export interface Worker {
  /** Works until it has no more to do, or until this time of `performance.now()`. */
  work(until: number): void
}

/** How long all of them may work before timers, signals and sockets are served, ms. */
const turnMs = 8
/** How long one of them may work while others wait, ms. */
const shareMs = 4

/**
 * Lets workers take turns on the one thread that they share with the loop that runs tasks: none of them keeps the others
 * or the loop waiting, however much it has been asked to do.
 */
export class Turns {
  /** In the order in which they asked. */
  readonly #waiting = new Set<Worker>()
  #isScheduled = false

  /** Has somebody work soon; once, however often it is asked for. */
  ask(worker: Worker): void {
    this.#waiting.add(worker)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#take)
  }

  forget(worker: Worker): void {
    this.#waiting.delete(worker)
  }

  readonly #take = (): void => {
    const end = performance.now() + turnMs
    // Those that ask again while this runs are at the end of the set.
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker)
      const now = performance.now()
      worker.work(Math.min(end, now + shareMs))
      if (performance.now() >= end) break
    }
    this.#isScheduled = this.#waiting.size > 0
    if (this.#isScheduled) setImmediate(this.#take)
  }
}
