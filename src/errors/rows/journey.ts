import {rows} from '../row.js'

/** Errors of journeys and of the log of operations. */
export const journeyErrors = rows({})
