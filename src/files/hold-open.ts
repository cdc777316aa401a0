import {closeSync, openSync} from 'node:fs'

/** Descriptors of the paths that this process holds open. */
const held = new Map<string, number>()

/**
 * Keeps a file or directory open until the process exits, however it does: other processes then see that it is in use. No
 * effect if it cannot be opened. Descriptors that a worker thread has opened are closed with it, so this is called in the
 * main thread for what the process uses all the time.
 */
export function holdOpen(path: string): void {
  const before = held.get(path)
  try {
    held.set(path, openSync(path, 'r'))
  } catch {
    return
  }
  if (before !== undefined) closeSync(before)
}
