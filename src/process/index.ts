/**
 * Processes and threads: whether another process of this machine is there and is the one that was meant, and worker
 * threads, with their start, their first message and how their errors reach the main thread.
 */
export {isAlive, processesWith, processStart} from './identity.js'
export {isRunning} from './running.js'
export {asRecord, type Failure, type Greeting, startThread, type Thread} from './start-thread.js'
