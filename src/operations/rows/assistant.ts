import type {Operation} from '../operation.js'

/** Chats, and code that a model writes. */
export const assistantOperations: readonly Operation[] = []
