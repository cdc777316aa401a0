import {closeSync, openSync} from 'node:fs'

/** Descriptors of the paths that this process holds open until it exits. */
const held = new Map<string, () => void>()

/**
 * Keeps a file or directory open until the process exits, however it does: other processes then see that it is in use. No
 * effect if it cannot be opened. Descriptors that a worker thread has opened are closed with it, so this is called in the
 * main thread for what the process uses all the time.
 */
export function holdOpen(path: string): void {
  const before = held.get(path)
  const release = holdOpenFor(path)
  if (release === undefined) return
  held.set(path, release)
  before?.()
}

/** The same until the returned function is called; undefined if the path cannot be opened. */
export function holdOpenFor(path: string): (() => void) | undefined {
  try {
    const descriptor = openSync(path, 'r')
    return () => closeSync(descriptor)
  } catch {
    return undefined
  }
}
