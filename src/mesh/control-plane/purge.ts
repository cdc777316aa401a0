import {setImmediate as nextIteration} from 'node:timers/promises'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {MeshStore} from '../store/mesh-store.js'

/** Interval between purges, ms. */
const everyMs = 60_000

/** Purges the store periodically in small steps. @returns function that stops it */
export function purgeRegularly(store: Pick<MeshStore, 'purge'>): () => void {
  let isEnded = false
  let isRunning = false
  const log = logger('mesh')
  async function purge(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      while (!isEnded && (await store.purge())) await nextIteration()
    } catch (error) {
      const {code, message} = SvcError.from(error)
      log.warn({code}, message)
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(purge, everyMs).unref()
  return () => {
    isEnded = true
    clearInterval(timer)
  }
}
