import {setTimeout as sleep} from 'node:timers/promises'
import type {Orchestrator} from '../orchestrator/index.js'

/** Interval at which the store is checked for writes of other processes, ms. */
const pollMs = 50
/** Maximum time between two reads, because claims and leases expire without a write, ms. */
const upkeepMs = 1000

/**
 * Reads from the store now, after each write of another process, and at least once a second, until the signal aborts.
 */
export async function* readings<T>({store}: Orchestrator, read: () => T, signal: AbortSignal): AsyncGenerator<T> {
  const version = () => store.get<{data_version: number}>('PRAGMA data_version')?.data_version
  while (!signal.aborted) {
    const readVersion = version()
    const readAt = performance.now()
    yield read()
    while (!signal.aborted && version() === readVersion && performance.now() - readAt < upkeepMs)
      await sleep(pollMs, undefined, {signal}).catch(() => undefined)
  }
}
