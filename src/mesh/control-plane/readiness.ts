import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {MeshStore} from '../store/mesh-store.js'

/** Maximum age of a cached result, ms: everyone may ask, so that the database must be protected. */
const freshMs = 1000

/**
 * Returns a function that checks whether the store can be used.
 * @throws store_unavailable without details, which only the log contains
 */
export function createReadiness(store: Pick<MeshStore, 'check'>): () => Promise<void> {
  let checkedMs = Number.NEGATIVE_INFINITY
  let checked = Promise.resolve()
  return () => {
    const nowMs = performance.now()
    if (nowMs - checkedMs > freshMs) {
      checkedMs = nowMs
      checked = store.check().catch((error: unknown) => {
        const {code, message} = SvcError.from(error)
        logger('mesh').warn({code}, message)
        throw new SvcError('store_unavailable', {reason: 'it does not answer'})
      })
    }
    return checked
  }
}
