/**
 * Starts coding agents that use an inference server: the known programs, what they read, a server of their own if none is
 * running, and how they end.
 */

export {type OwnServer, startOwnServer} from './own-server.js'
export {type KnownProgram, knownPrograms, locateProgram, programNamed} from './programs.js'
export {runProgram} from './run-program.js'
export {findModel, type ServedTarget, targetOf} from './served-target.js'
export {placeholderKey, settingsScript} from './settings-script.js'
