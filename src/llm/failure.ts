import {SvcError} from '../errors/index.js'
import type {Failure} from '../process/index.js'

/** Errors of the runtime have no code of their own and are reported as `generation_failed`. */
export const failure: Failure = (reason, cause) => new SvcError('generation_failed', {reason}, {cause})
