import type {NodeRecord, Registry} from '../protocol/node.js'
import type {MeshClient} from './client.js'
import type {NodeTimes} from './node-state.js'
import type {CallOptions, NodesRequest} from './requests.js'

/** Nodes per page: even with long records, a page stays below the maximum response size. */
export const nodesPerPage = 500

export interface EveryNode extends Omit<NodesRequest, 'limit' | 'cursor'> {
  /** Maximum number of nodes; default: all. */
  max?: number | undefined
}

/**
 * Lists the nodes of a control plane page by page, without duplicates. `truncated` is set if there are more than
 * `max`. Fields other than the nodes come from the first page.
 * @throws MeshHttpError; the reason of the signal
 */
export async function everyNode(
  client: Pick<MeshClient, 'listNodes'>,
  {max = Number.POSITIVE_INFINITY, ...query}: EveryNode,
  options?: CallOptions,
): Promise<Registry> {
  const ask = (cursor?: string) =>
    client.listNodes({...query, limit: nodesPerPage, ...(cursor ? {cursor} : {})}, options)
  const {truncated: _, next_cursor: first, ...registry} = await ask()
  const nodes = new Map<unknown, NodeRecord>()
  const add = (page: readonly NodeRecord[]) => {
    const before = nodes.size
    for (const node of page) nodes.set(Object(node).id, node)
    return nodes.size > before
  }
  add(registry.nodes)
  let next = first
  while (next !== undefined && nodes.size < max) {
    const page = await ask(next)
    // Stop if a page contains nothing new, to avoid an endless loop.
    next = add(page.nodes) ? page.next_cursor : undefined
  }
  const isCut = next !== undefined || nodes.size > max
  return {...registry, nodes: [...nodes.values()].slice(0, max), ...(isCut ? {truncated: true as const} : {})}
}

/** Times that the state of the nodes of a list depends on. */
export const timesOf = (registry: Registry, staleMs: number): NodeTimes => ({
  atMs: timeOf(registry),
  staleMs,
  heartbeatMs: typeof registry.next_heartbeat_ms === 'number' ? registry.next_heartbeat_ms : undefined,
})

/** Time of a list: of the control plane if known, else of this machine, Unix ms. */
export const timeOf = ({server_time_unix_ms: time}: Pick<Registry, 'server_time_unix_ms'>): number => time ?? Date.now()
