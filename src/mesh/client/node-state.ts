import type {NodeRecord} from '../protocol/node.js'

/** Reason why a node gets no work. */
export type NodeTrouble = 'quarantined' | 'maintenance' | 'stale'

/**
 * State of a node: its most severe trouble, or `ok`. A suspect node has missed a heartbeat, but gets work until it is
 * stale.
 */
export type NodeState = 'ok' | 'suspect' | NodeTrouble

/** Time of a list of nodes, and the limits that apply to the time since a heartbeat. */
export interface NodeTimes {
  /** On the control plane's clock, which also sets the last-seen times, Unix ms. */
  atMs: number
  /** Age from which a node is stale, ms; 0 disables the check. */
  staleMs: number
  /** Heartbeat interval, ms; undefined if the control plane does not report it. */
  heartbeatMs?: number | undefined
}

/** Multiple of the heartbeat interval after which a heartbeat is missed; nodes vary the interval by up to 10 %. */
const missedAfter = 1.5

/**
 * True if a node was last seen too long ago or never. A time in the future is not stale.
 * @param atMs time on the control plane's clock, which also sets the last-seen times, Unix ms
 * @param staleMs age from which a node is stale, ms; 0 disables the check
 */
export const isStale = (lastSeenMs: unknown, atMs: number, staleMs: number): boolean =>
  staleMs > 0 && !(typeof lastSeenMs === 'number' && atMs - lastSeenMs <= staleMs)

/** Reasons why a node gets no work, most severe first. Parameters as for `isStale`. */
export function nodeTroubles(node: NodeRecord, atMs: number, staleMs: number): NodeTrouble[] {
  const {quarantined, maintenance, maintenance_until_unix_ms: until, last_seen_unix_ms: seen} = node
  const conditions: readonly [NodeTrouble, boolean][] = [
    ['quarantined', quarantined === true],
    ['maintenance', maintenance === true && (until === undefined || until > atMs)],
    ['stale', isStale(seen, atMs, staleMs)],
  ]
  return conditions.filter(([, isMet]) => isMet).map(([trouble]) => trouble)
}

/** All conditions of a node, most severe first; empty if it is OK. */
export function nodeConditions(
  node: NodeRecord,
  {atMs, staleMs, heartbeatMs = 0}: NodeTimes,
): Exclude<NodeState, 'ok'>[] {
  const troubles = nodeTroubles(node, atMs, staleMs)
  const isSuspect = !troubles.includes('stale') && isStale(node.last_seen_unix_ms, atMs, heartbeatMs * missedAfter)
  return isSuspect ? [...troubles, 'suspect'] : troubles
}

export const nodeState = (node: NodeRecord, times: NodeTimes): NodeState => nodeConditions(node, times)[0] ?? 'ok'
