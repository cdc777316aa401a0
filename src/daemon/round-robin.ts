/** Works in small steps, between which it can be interrupted. */
export interface Worker {
  /** Works until it is done or `performance.now()` reaches `until`. */
  work(until: number): void
}

/** Total time slice per event-loop iteration, ms. */
const iterationMs = 8
/** Time slice of one worker, ms. */
const shareMs = 4

/**
 * Runs workers round robin on the thread that they share with the task scheduler, so that a busy worker delays neither
 * the others nor the scheduler.
 */
export class RoundRobin {
  /** In order of scheduling. */
  readonly #waiting = new Set<Worker>()
  #isScheduled = false

  /** Schedules a worker; has no effect if it is already scheduled. */
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
    // Workers that are scheduled again meanwhile are appended to the set.
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
