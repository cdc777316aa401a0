import {rows} from '../row.js'

/** Errors of plans. */
export const planErrors = rows({})
