import {setTimeout as sleep} from 'node:timers/promises'
import type {Orchestrator} from '../orchestrator/index.js'

/** Between two looks at the store for what other processes wrote, ms. */
const pollMs = 50
/** Claims and leases end by themselves, without a write: then it is read again, ms. */
const upkeepMs = 1000

/**
 * What is read of the store: at once, whenever another process has written, and once a second. Ends when the signal
 * aborts.
 */
export async function* readings<T>({store}: Orchestrator, read: () => T, signal: AbortSignal): AsyncGenerator<T> {
  const version = () => store.get<{data_version: number}>('PRAGMA data_version')?.data_version
  while (!signal.aborted) {
    const seen = version()
    const readAt = performance.now()
    yield read()
    while (!signal.aborted && version() === seen && performance.now() - readAt < upkeepMs)
      await sleep(pollMs, undefined, {signal}).catch(() => undefined)
  }
}
