/** Work that can be interrupted: it yields at least every few milliseconds. */
export type Steps<T> = Generator<void, T>

/** Does all steps at once. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const {done, value} = steps.next()
    if (done === true) return value
  }
}

/** Work that is one step. */
export function* stepOf<T>(work: () => T): Steps<T> {
  yield
  return work()
}

/** Time after which other work gets a turn, ms. */
const turnMs = 5

/** Does the steps in turns, between which the event loop does other work. @throws the reason of `signal` */
export async function stepsInTurns<T>(steps: Steps<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted()
    const started = performance.now()
    while (performance.now() - started < turnMs) {
      const {done, value} = steps.next()
      if (done === true) return value
    }
    await new Promise(setImmediate)
  }
}
