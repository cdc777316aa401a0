import type {Operation} from '../operation.js'

/** Messages between agents. */
export const messageOperations: readonly Operation[] = []
