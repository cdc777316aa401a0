import type {NodeRecord, Registry} from '../protocol/node.js'
import type {MeshClient} from './client.js'
import type {CallOptions, NodesRequest} from './requests.js'

/** Rows of a page: of long records it is some megabytes, which is less than is read of an answer. */
export const nodesOfPage = 500

export interface EveryNode extends Omit<NodesRequest, 'limit' | 'cursor'> {
  /** Nodes that are listed at most; every one where it is left out. */
  most?: number | undefined
}

/**
 * The nodes of a control plane, page by page, each once. `truncated` says that there are more than were wanted. What
 * goes for the whole list is that of its first page.
 * @throws MeshHttpError; what the signal was aborted with
 */
export async function everyNode(
  client: Pick<MeshClient, 'listNodes'>,
  {most = Number.POSITIVE_INFINITY, ...query}: EveryNode,
  options?: CallOptions,
): Promise<Registry> {
  const ask = (cursor?: string) =>
    client.listNodes({...query, limit: nodesOfPage, ...(cursor ? {cursor} : {})}, options)
  const {truncated: _, next_cursor: first, ...registry} = await ask()
  const nodes = new Map<unknown, NodeRecord>()
  const add = (page: readonly NodeRecord[]) => {
    const before = nodes.size
    for (const node of page) nodes.set(Object(node).id, node)
    return nodes.size > before
  }
  add(registry.nodes)
  let next = first
  while (next !== undefined && nodes.size < most) {
    const page = await ask(next)
    // What brings nothing new leads nowhere.
    next = add(page.nodes) ? page.next_cursor : undefined
  }
  const isCut = next !== undefined || nodes.size > most
  return {...registry, nodes: [...nodes.values()].slice(0, most), ...(isCut ? {truncated: true as const} : {})}
}

/** Time at which a list was made: of the control plane, else of this machine. */
export const timeOf = ({server_time_unix_ms: time}: Pick<Registry, 'server_time_unix_ms'>): number => time ?? Date.now()
