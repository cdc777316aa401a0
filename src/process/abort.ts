/**
 * Reactions to an abort signal. Its event comes once, and a listener that is added later is never called. These functions
 * therefore look at the signal first, and all sources use them.
 */

/**
 * Calls a function when a signal aborts. If it has aborted, the call is a microtask, never part of this one: the caller may
 * not have set yet what the function uses.
 * @returns stops listening: the signal may live much longer than what listens
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => undefined
  let isListening = true
  const call = () => {
    if (isListening) listener(signal.reason)
  }
  if (signal.aborted) queueMicrotask(call)
  else signal.addEventListener('abort', call, {once: true})
  return () => {
    isListening = false
    signal.removeEventListener('abort', call)
  }
}

/**
 * Aborts a controller when a signal aborts, at once if it has aborted, so that nothing is started in between.
 * @returns stops listening
 */
export function forwardAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (signal?.aborted === true) controller.abort(signal.reason)
  return onAbort(signal, (reason) => controller.abort(reason))
}

/** Resolves when a signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, () => resolve())
  })

/** Waits for a value, but no longer than until a signal aborts. @throws the reason of the signal */
export async function orAborted<T>(value: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let stop = () => {}
  const abort = new Promise<never>((_, reject) => {
    if (signal?.aborted === true) reject(signal.reason)
    stop = onAbort(signal, reject)
  })
  try {
    return await Promise.race([abort, value])
  } finally {
    stop()
  }
}
