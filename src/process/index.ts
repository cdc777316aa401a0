/**
 * Processes and threads: identification of other processes, and start of worker threads with error propagation to the
 * main thread.
 */
export {isAlive, processesWith, processStart} from './identity.js'
export {isRunning} from './running.js'
export {asRecord, type Failure, type Greeting, startThread, type Thread} from './start-thread.js'
