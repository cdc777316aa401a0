import type {NodeRecord} from '../protocol/node.js'

/** Reason why a node gets no work. */
export type NodeTrouble = 'quarantined' | 'maintenance' | 'stale'

/** State of a node: its most severe trouble, or `ok`. Only nodes in the state `ok` get work. */
export type NodeState = 'ok' | NodeTrouble

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

/** State of a node. Parameters as for `isStale`. */
export const nodeState = (node: NodeRecord, atMs: number, staleMs: number): NodeState =>
  nodeTroubles(node, atMs, staleMs)[0] ?? 'ok'
