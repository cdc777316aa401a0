/** Threads that compute: how one is started, what it says first, and how its errors cross over. */
export {asRecord, type Failure, type Greeting, startThread, type Thread} from './start-thread.js'
