/** Memoises a function: it runs for the first test, and other tests get the same result. */
export function once<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run()
    return running
  }
}
