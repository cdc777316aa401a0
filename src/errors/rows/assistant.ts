import {rows} from '../row.js'

/** Errors of chats and of code that a model writes. */
export const assistantErrors = rows({})
