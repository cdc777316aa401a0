/**
 * Processes and threads: identification of other processes, commands in a process group with bounded output, calls to worker
 * threads with error propagation. Timers, and reactions to abort signals.
 */
export {aborted, forwardAbort, onAbort, orAborted} from './abort.js'
export {type FileUser, namesOf, usersOf, usersText} from './file-users.js'
export {isAlive, killIfRunning, processesWith, processStart} from './identity.js'
export {inheritedEnvironment} from './inherited-environment.js'
export {KeptOutput, type OutputListener, type OutputPiece, type OutputSource, withGap} from './kept-output.js'
export {LineSplitter} from './line-splitter.js'
export {type GroupCommand, type GroupEnd, type GroupListener, runInGroup} from './process-group.js'
export {isRunning} from './running.js'
export {setRuntimeEnvironment} from './runtime-environment.js'
export {asRecord, endOnRequest, type Failure, type Greeting, startThread, type Thread} from './start-thread.js'
export {type UserIds, userIds} from './system-user.js'
export {type ThreadAnswer, ThreadCalls} from './thread-calls.js'
export {pause, startTimer, type Timer} from './timer.js'
