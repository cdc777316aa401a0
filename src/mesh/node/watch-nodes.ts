import {setTimeout as sleep} from 'node:timers/promises'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import {everyNode, timeOf, timesOf} from '../client/every-node.js'
import {isStale, type NodeState, type NodeTimes, nodeState} from '../client/node-state.js'
import type {NodesRequest} from '../client/requests.js'
import type {NodeRecord, Registry} from '../protocol/node.js'

export interface NodeQuery extends Pick<NodesRequest, 'labels' | 'fields'> {
  /** Omit nodes that were last seen longer ago, ms; 0 for no limit. */
  maxStaleMs: number
}

/**
 * Lists all nodes of a control plane, page by page.
 * @throws MeshHttpError
 */
export async function listEveryNode(
  client: Pick<MeshClient, 'listNodes'>,
  {maxStaleMs, ...query}: NodeQuery,
  signal?: AbortSignal,
): Promise<Registry> {
  const registry = await everyNode(client, query, {signal})
  const atMs = timeOf(registry)
  return {...registry, nodes: registry.nodes.filter(({last_seen_unix_ms: seen}) => !isStale(seen, atMs, maxStaleMs))}
}

/** Change in the list of nodes. The initial list is reported as `listed` events. */
export interface NodeChange {
  event: 'listed' | 'joined' | 'changed' | 'left'
  state: NodeState
  node: NodeRecord
}

export interface Watching extends NodeQuery {
  staleMs: number
  intervalMs: number
  /** Called when the control plane becomes unreachable, and with undefined when it is reachable again. */
  onFault: (fault: MeshHttpError | undefined) => void
}

/**
 * Polls the list of nodes and yields the changes until the signal aborts. A new heartbeat alone is not a change.
 * Transient errors are retried.
 * @throws MeshHttpError
 */
export async function* watchNodes(
  client: Pick<MeshClient, 'listNodes'>,
  {staleMs, intervalMs, onFault, ...query}: Watching,
  signal: AbortSignal,
): AsyncGenerator<NodeChange> {
  let known: ReadonlyMap<string, Seen> | undefined
  let isDown = false
  while (!signal.aborted) {
    try {
      const registry = await listEveryNode(client, query, signal)
      if (isDown) onFault(undefined)
      isDown = false
      const seen = new Map(registry.nodes.map((node) => [node.id, seenOf(node, timesOf(registry, staleMs))]))
      yield* changes(known, seen)
      known = seen
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MeshHttpError && error.isTransient)) throw error
      if (!isDown) onFault(error)
      isDown = true
    }
    await sleep(intervalMs, undefined, {signal}).catch(() => undefined)
  }
}

interface Seen {
  node: NodeRecord
  state: NodeState
  /** Comparable form of the fields whose changes are reported. */
  digest: string
}

function seenOf(node: NodeRecord, times: NodeTimes): Seen {
  const state = nodeState(node, times)
  const {version, capabilities, maintenance_until_unix_ms: until} = node
  return {node, state, digest: JSON.stringify([state, version, capabilities?.labels ?? [], until])}
}

function* changes(
  before: ReadonlyMap<string, Seen> | undefined,
  now: ReadonlyMap<string, Seen>,
): Generator<NodeChange> {
  for (const [id, {node, state, digest}] of now) {
    const earlier = before?.get(id)
    if (before === undefined) yield {event: 'listed', state, node}
    else if (earlier === undefined) yield {event: 'joined', state, node}
    else if (earlier.digest !== digest) yield {event: 'changed', state, node}
  }
  for (const [id, {node, state}] of before ?? []) if (!now.has(id)) yield {event: 'left', state, node}
}
