/**
 * Tasks that run on other nodes of a mesh: the claimer, which sends tasks of a workspace and accepts their results; the
 * worker, which runs the tasks of other machines; and the poller, which keeps the list of nodes.
 */

export {awaitPlacement} from './claimer/await-placement.js'
export {type DelegatorOptions, startDelegator} from './claimer/delegator.js'
export {claimerOf, replyAgentOf} from './claimer/envelope.js'
export {type NodePoller, startNodePoller} from './nodes/node-poller.js'
export {configuredWorker, isWorkerConfigured} from './worker/configured.js'
export {runWorker, type WorkerEvent, type WorkerOptions} from './worker/worker.js'
