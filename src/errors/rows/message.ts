import {rows} from '../row.js'

/** Errors of messages between agents. */
export const messageErrors = rows({})
