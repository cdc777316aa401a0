import {SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {ControlPlaneContext} from './context.js'

/** Maximum age of a cached result, ms: everyone may ask, so that the database must be protected. */
const freshMs = 1000

/**
 * Returns a function that checks whether the control plane can be used.
 * @throws control_plane_stopping; store_unavailable without details, which only the log contains
 */
export function createReadiness(context: Pick<ControlPlaneContext, 'store' | 'isStopping'>): () => Promise<void> {
  let checkedMs = Number.NEGATIVE_INFINITY
  let checked = Promise.resolve()
  return async () => {
    if (context.isStopping) throw new SvcError('control_plane_stopping', {})
    const nowMs = performance.now()
    if (nowMs - checkedMs > freshMs) {
      checkedMs = nowMs
      checked = context.store.check().catch((error: unknown) => {
        const {code, message} = SvcError.from(error)
        logger('mesh').warn({code}, message)
        throw new SvcError('store_unavailable', {reason: 'it does not answer'})
      })
    }
    return checked
  }
}
