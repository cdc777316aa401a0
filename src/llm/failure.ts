import {SvcError} from '../errors/index.js'
import type {Failure} from '../process/index.js'

/** A fault of the runtime has no row of its own: it is the generation that failed. */
export const failure: Failure = (reason, cause) => new SvcError('generation_failed', {reason}, {cause})
