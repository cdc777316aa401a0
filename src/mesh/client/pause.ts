import {setTimeout as sleep} from 'node:timers/promises'

/** Maximum delay of a Node.js timer, ms: a longer one would fire immediately. */
const maxMs = 2 ** 31 - 1

/** Waits, at most `maxMs`. @throws the reason of the signal */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(Math.min(ms, maxMs), undefined, {signal}).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error
  })
}
