/** Completion of command lines in shells. */
export {complete} from './complete.js'
export {completionScripts, completionSetup, type Shell} from './scripts.js'
