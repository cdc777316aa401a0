import {setImmediate as nextTurn} from 'node:timers/promises'
import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {MeshStore} from '../store/mesh-store.js'

/** How often what has had its time is removed, ms. */
const everyMs = 60_000

/** Has the store purged now and then, a part at a time. @returns what ends it */
export function purgeRegularly(store: Pick<MeshStore, 'purge'>): () => void {
  let isEnded = false
  let isRunning = false
  const log = logger('mesh')
  async function purge(): Promise<void> {
    if (isRunning) return
    isRunning = true
    try {
      while (!isEnded && (await store.purge())) await nextTurn()
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
