import type {Operation} from '../operation.js'

/** Speech-to-text. */
export const speechOperations: readonly Operation[] = []
