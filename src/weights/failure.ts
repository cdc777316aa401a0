import {SvcError} from '../errors/index.js'
import type {Failure} from '../process/index.js'

/** Errors of the quantising threads without a code of their own are reported as `quantisation_failed`. */
export const failure: Failure = (reason, cause) => new SvcError('quantisation_failed', {reason}, {cause})
