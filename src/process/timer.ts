import {onAbort} from './abort.js'

/** Maximum delay of a timer of Node.js, ms, about 24.8 days: a longer one would fire at once. */
const maxDelayMs = 2 ** 31 - 1

/** A timer that can be stopped. */
export interface Timer {
  stop(): void
}

/**
 * Calls a function after any delay, also one that is longer than a timer of Node.js supports. Delays that users choose go
 * through this function.
 * @param isWaitedFor false: the timer does not keep the process alive
 */
export function startTimer(run: () => void, ms: number, {isWaitedFor = true} = {}): Timer {
  let timer: NodeJS.Timeout
  const start = (left: number) => {
    const delay = Math.min(left, maxDelayMs)
    timer = setTimeout(() => (left > delay ? start(left - delay) : run()), delay)
    if (!isWaitedFor) timer.unref()
  }
  start(Math.max(0, ms))
  return {stop: () => clearTimeout(timer)}
}

/** Waits for any time. @throws the reason of the signal */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => {
      stopListening()
      resolve()
    }, ms)
    const stopListening = onAbort(signal, (reason) => {
      timer.stop()
      reject(reason)
    })
  })
}
