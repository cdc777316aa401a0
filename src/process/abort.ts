/**
 * Reactions to an abort signal. Its event comes once, and a listener that is added later is never called. These functions
 * therefore look at the signal first, and all sources use them.
 */

/**
 * Calls a function when a signal aborts, or at once if it has aborted.
 * @returns stops listening: the signal may live much longer than what listens
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => undefined
  const call = () => listener(signal.reason)
  if (signal.aborted) call()
  else signal.addEventListener('abort', call, {once: true})
  return () => signal.removeEventListener('abort', call)
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
    stop = onAbort(signal, reject)
  })
  try {
    return await Promise.race([abort, value])
  } finally {
    stop()
  }
}
