import {rows} from '../row.js'

/** Errors of model downloads. */
export const hubErrors = rows({})
