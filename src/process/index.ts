/** Other processes of this machine: whether one is there, whether it is the one that was meant, and which ones there are. */
export {isAlive, processesWith, processStart} from './identity.js'
export {isRunning} from './running.js'
