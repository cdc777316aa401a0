/**
 * Tasks that run on other nodes of a mesh. The claimer sends tasks of a workspace and accepts their results. The worker runs
 * the tasks of other machines. The poller keeps the list of nodes.
 */

export {awaitPlacement} from './claimer/await-placement.js'
export {type DelegatorOptions, startDelegator} from './claimer/delegator.js'
export {claimerOf, replyAgentOf} from './claimer/envelope.js'
export {type NodePoller, startNodePoller} from './nodes/node-poller.js'
export {configuredWorker, isWorkerConfigured} from './worker/configured.js'
export {runWorker, type WorkerEvent, type WorkerOptions} from './worker/worker.js'
