import {rows} from '../row.js'

/** Errors of the daemon and of those who call it. */
export const daemonErrors = rows({})
