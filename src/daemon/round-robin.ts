/** Something that works in small steps and can stop between any two of them. */
export interface Worker {
  /** Works until nothing is left to do, or until this time of `performance.now()`. */
  work(until: number): void
}

/** How long all of them may work in one iteration of the event loop, ms. */
const iterationMs = 8
/** How long one of them may work while others wait, ms. */
const shareMs = 4

/**
 * Runs workers round robin on the thread that they share with the loop that runs tasks: none of them keeps the others or
 * the loop waiting, however much work it has.
 */
export class RoundRobin {
  /** In the order in which they were scheduled. */
  readonly #waiting = new Set<Worker>()
  #isScheduled = false

  /** Runs a worker soon; once, however often it is scheduled before. */
  schedule(worker: Worker): void {
    this.#waiting.add(worker)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#run)
  }

  cancel(worker: Worker): void {
    this.#waiting.delete(worker)
  }

  readonly #run = (): void => {
    const end = performance.now() + iterationMs
    // Those that are scheduled again while this runs are at the end of the set.
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker)
      const now = performance.now()
      worker.work(Math.min(end, now + shareMs))
      if (performance.now() >= end) break
    }
    this.#isScheduled = this.#waiting.size > 0
    if (this.#isScheduled) setImmediate(this.#run)
  }
}
