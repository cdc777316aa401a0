import {setTimeout as sleep} from 'node:timers/promises'

/** Longest wait that a timer of Node knows, ms: a longer one would end at once. */
const longestMs = 2 ** 31 - 1

/** Waits; no longer than a timer can. @throws what the signal was aborted with */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(Math.min(ms, longestMs), undefined, {signal}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error
  })
}
