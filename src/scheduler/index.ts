/**
 * The daemon loop, which starts queued tasks, runs them with processors, scales the agents and cleans up.
 */

export {type Companion, type DaemonOptions, runDaemon} from './loop/daemon.js'
export {settleOutcome} from './loop/settle-outcome.js'
export {aiProcessor} from './processors/ai.js'
export {execProcessor} from './processors/exec.js'
export {localProcessors} from './processors/local-processors.js'
export type {Outcome, Processor, RunReport} from './processors/processor.js'
export {scaleUpThreshold} from './scaling/decide.js'
export {rebalance} from './scaling/rebalance-queues.js'
export {loadOutlook} from './scaling/tick.js'
