import type {Operation} from '../operation.js'

/** Plans, and their way into tasks. */
export const planOperations: readonly Operation[] = []
