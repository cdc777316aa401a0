import type {NodeRecord} from '../protocol/node.js'

/** Why a node takes no work. */
export type NodeTrouble = 'quarantined' | 'maintenance' | 'stale'

/** How a node stands; the gravest of what holds. Only one that is `ok` takes work. */
export type NodeState = 'ok' | NodeTrouble

/**
 * Whether a node was silent for too long. One that a clock puts into the future was not; one that was never heard of
 * was.
 * @param atMs time of the control plane, whose clock has stamped the nodes
 * @param staleMs silence after which a node counts as stale; 0 takes none for stale
 */
export const isStale = (lastSeenMs: unknown, atMs: number, staleMs: number): boolean =>
  staleMs > 0 && !(typeof lastSeenMs === 'number' && atMs - lastSeenMs <= staleMs)

/** Why a node takes no work, the gravest first. Times are those of `isStale`. */
export function nodeTroubles(node: NodeRecord, atMs: number, staleMs: number): NodeTrouble[] {
  const {quarantined, maintenance, maintenance_until_unix_ms: until, last_seen_unix_ms: seen} = node
  const holds: readonly [NodeTrouble, boolean][] = [
    ['quarantined', quarantined === true],
    ['maintenance', maintenance === true && (until === undefined || until > atMs)],
    ['stale', isStale(seen, atMs, staleMs)],
  ]
  return holds.filter(([, isSo]) => isSo).map(([trouble]) => trouble)
}

/** How a node stands. Times are those of `isStale`. */
export const nodeState = (node: NodeRecord, atMs: number, staleMs: number): NodeState =>
  nodeTroubles(node, atMs, staleMs)[0] ?? 'ok'
