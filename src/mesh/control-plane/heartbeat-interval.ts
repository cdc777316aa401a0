/** Shortest time between two heartbeats of a node, ms: a quarter of the time after which a node counts as stale. */
const shortestMs = 15_000

/** When a node is to beat next, ms, so that all of them together keep to a rate. */
export const heartbeatIntervalMs = (nodes: number, heartbeatsPerSec: number): number =>
  Math.max(shortestMs, Math.ceil((nodes / heartbeatsPerSec) * 1000))
