/**
 * The daemon loop, which starts queued tasks, runs them with processors, scales the agents and cleans up; the delegator,
 * which sends tasks to other machines; and the worker, which runs the tasks of other machines.
 */

export {awaitPlacement} from './delegation/await-placement.js'
export {type DelegatorOptions, startDelegator} from './delegation/delegator.js'
export {claimerOf, replyAgentOf} from './delegation/envelope.js'
export {type Companion, type DaemonOptions, runDaemon} from './loop/daemon.js'
export {type NodePoller, startNodePoller} from './mesh/node-poller.js'
export {localProcessors} from './processors/local-processors.js'
export type {Outcome, Processor, RunReport} from './processors/processor.js'
export {scaleUpThreshold} from './scaling/decide.js'
export {rebalance} from './scaling/rebalance-queues.js'
export {loadOutlook} from './scaling/tick.js'
export {configuredWorker, isWorkerConfigured} from './worker/configured.js'
export {runWorker, type WorkerEvent, type WorkerOptions} from './worker/worker.js'
