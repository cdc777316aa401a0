import {setTimeout as sleep} from 'node:timers/promises'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import {everyNode, timeOf} from '../client/every-node.js'
import {isStale, type NodeState, nodeState} from '../client/node-state.js'
import type {NodesRequest} from '../client/requests.js'
import type {NodeRecord, Registry} from '../protocol/node.js'

export interface NodeQuery extends Pick<NodesRequest, 'labels' | 'fields'> {
  /** Nodes that were not heard of for longer are left out, ms; 0 leaves out none. */
  maxStaleMs: number
}

/**
 * The nodes of a control plane, however many pages it gives them on.
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

/** Something that has changed in the list of nodes; at first everything that is listed. */
export interface NodeChange {
  event: 'listed' | 'joined' | 'changed' | 'left'
  state: NodeState
  node: NodeRecord
}

export interface Watching extends NodeQuery {
  staleMs: number
  intervalMs: number
  /** Told once of each time in which the control plane cannot be asked, and of its end. */
  onFault: (fault: MeshHttpError | undefined) => void
}

/**
 * Asks for the nodes again and again, and gives what has changed, until the signal aborts. That a node was heard of
 * again is no change. A fault that may pass is waited out.
 * @throws MeshHttpError
 */
export async function* watchNodes(
  client: Pick<MeshClient, 'listNodes'>,
  {staleMs, intervalMs, onFault, ...query}: Watching,
  signal: AbortSignal,
): AsyncGenerator<NodeChange> {
  let known: ReadonlyMap<string, Seen> | undefined
  let isFaulty = false
  while (!signal.aborted) {
    try {
      const registry = await listEveryNode(client, query, signal)
      if (isFaulty) onFault(undefined)
      isFaulty = false
      const seen = new Map(registry.nodes.map((node) => [node.id, seenOf(node, timeOf(registry), staleMs)]))
      yield* changes(known, seen)
      known = seen
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof MeshHttpError && error.isTransient)) throw error
      if (!isFaulty) onFault(error)
      isFaulty = true
    }
    await sleep(intervalMs, undefined, {signal}).catch(() => undefined)
  }
}

interface Seen {
  node: NodeRecord
  state: NodeState
  /** What makes a difference when it changes. */
  said: string
}

function seenOf(node: NodeRecord, atMs: number, staleMs: number): Seen {
  const state = nodeState(node, atMs, staleMs)
  const {version, capabilities, maintenance_until_unix_ms: until} = node
  return {node, state, said: JSON.stringify([state, version, capabilities?.labels ?? [], until])}
}

function* changes(
  before: ReadonlyMap<string, Seen> | undefined,
  now: ReadonlyMap<string, Seen>,
): Generator<NodeChange> {
  for (const [id, {node, state, said}] of now) {
    const earlier = before?.get(id)
    if (before === undefined) yield {event: 'listed', state, node}
    else if (earlier === undefined) yield {event: 'joined', state, node}
    else if (earlier.said !== said) yield {event: 'changed', state, node}
  }
  for (const [id, {node, state}] of before ?? []) if (!now.has(id)) yield {event: 'left', state, node}
}
