import {setMaxListeners} from 'node:events'
import {forwardAbort} from '../../process/index.js'
import {Suspension} from './control-errors.js'

/**
 * Runs jobs at the same time, at most `limit`. If one fails, the signal of the others aborts, and no more are started,
 * except with `visitsAll`. Waits for all that were started.
 * @throws the first failure; a suspension only if nothing failed
 */
export async function runConcurrently<T>(
  jobs: readonly ((signal: AbortSignal) => Promise<T>)[],
  {limit, signal, visitsAll}: {limit: number; signal: AbortSignal; visitsAll: boolean},
): Promise<T[]> {
  const abort = new AbortController()
  setMaxListeners(0, abort.signal)
  const stopListening = forwardAbort(signal, abort)
  const results: T[] = []
  let next = 0
  let failure: unknown
  let suspension: Suspension | undefined
  const work = async () => {
    while (next < jobs.length && (visitsAll || (failure === undefined && suspension === undefined))) {
      const at = next++
      try {
        results[at] = await (jobs[at] as (typeof jobs)[number])(abort.signal)
      } catch (error) {
        if (error instanceof Suspension) suspension = error
        else {
          failure ??= error
          if (!visitsAll) abort.abort(failure)
        }
      }
    }
  }
  try {
    await Promise.all(Array.from({length: Math.min(limit, jobs.length)}, work))
  } finally {
    stopListening()
  }
  if (failure !== undefined) throw failure
  if (suspension !== undefined) throw suspension
  return results
}
