import type {ControlPlaneContext} from './context.js'

/** Minimum heartbeat interval, ms: a quarter of the time after which a node is stale. */
const minIntervalMs = 15_000

/** Heartbeat interval of a node, ms, such that all nodes together stay below a rate. */
export const heartbeatIntervalMs = (nodes: number, heartbeatsPerSec: number): number =>
  Math.max(minIntervalMs, Math.ceil((nodes / heartbeatsPerSec) * 1000))

/** Current heartbeat interval of the nodes of a control plane, ms. */
export const nextHeartbeatMs = async ({store, scope, heartbeatsPerSec}: ControlPlaneContext): Promise<number> =>
  heartbeatIntervalMs(await store.countNodes(scope), heartbeatsPerSec)
