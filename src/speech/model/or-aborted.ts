/** Waits for a value, but no longer than until the signal aborts. @throws the reason of the signal */
export function orAborted<T>(value: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return value
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, {once: true})
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
