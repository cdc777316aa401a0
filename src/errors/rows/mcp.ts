import {rows} from '../row.js'

/** Errors of the tool server. */
export const mcpErrors = rows({})
