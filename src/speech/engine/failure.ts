import {SvcError} from '../../errors/index.js'
import type {Failure} from '../../process/index.js'

/** Reports a failure of the runtime as a failed recognition. */
export const failure: Failure = (reason, cause) => new SvcError('recognition_failed', {reason}, {cause})
