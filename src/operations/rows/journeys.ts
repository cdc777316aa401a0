import type {Operation} from '../operation.js'

/** Journeys, and the log of operations. */
export const journeyOperations: readonly Operation[] = []
