import {type OrchStatusV1, withoutUndefined} from '../../contracts/index.js'
import {claimerLabel, type NodeRecord, type Registry} from '../../mesh/index.js'
import {type Capabilities, parseCapabilities, type WorkspaceContext} from '../../workspace/index.js'
import type {PolledNode} from '../base/polled-nodes.js'
import {deleteState, readState, writeState} from '../base/state.js'
import {isSchedulable, type RemoteHint, remoteHint} from './remote.js'

/** The nodes of the mesh other than this machine. */
export interface RemoteNodes {
  /** Time of the poll, Unix ms. */
  fetchedAtMs: number
  nodes: readonly RemoteHint[]
  /** There are more nodes than these. */
  isTruncated: boolean
}

/** Result of one poll. */
export type NodePoll = {
  /** Age from which the nodes are no longer used, ms. */
  usableMs: number
} & (
  | {
      /** All nodes, without secrets. */
      registry: Registry
      /** Time of the list on the clock of the control plane, Unix ms. */
      listedAtMs: number
      /** Ids of this machine. */
      ownIds: ReadonlySet<string>
    }
  | {error: string}
)

/** Maximum size of the stored rows. */
const maxNodes = 1000
const maxBytes = 256 * 1024

/**
 * Returns the nodes of the last poll of the daemon. Stale heartbeats and maintenance are those at the time of the poll.
 * @returns undefined if no poll succeeded recently, so that the nodes are unknown
 */
export function remoteNodes(context: WorkspaceContext): RemoteNodes | undefined {
  const polled = readState(context, 'mesh_nodes')
  // Also ignored if it is in the future because the clock was set back.
  if (!polled?.ok || Math.abs(context.now() - polled.fetched_at_unix_ms) > polled.usable_ms) return undefined
  const {staleThresholdMs} = context.config
  return {
    fetchedAtMs: polled.fetched_at_unix_ms,
    nodes: polled.nodes
      // Orchestrators join to hold leases; they run no tasks of others under that id.
      .filter(({is_self: isSelf, capabilities}) => isSelf !== true && !capabilities?.labels?.includes(claimerLabel))
      .map((row) => remoteHint(row, staleThresholdMs, polled.listed_at_unix_ms)),
    isTruncated: polled.nodes.length < polled.node_count,
  }
}

/**
 * Stores the result of a poll for all processes of the workspace. If the poll failed, the former nodes are removed.
 * @returns true if fewer nodes than before can receive work
 */
export function writeNodePoll(context: WorkspaceContext, poll: NodePoll): boolean {
  const before = schedulableNodes(context)
  storePoll(context, poll)
  return schedulableNodes(context) < before
}

const schedulableNodes = (context: WorkspaceContext): number =>
  remoteNodes(context)?.nodes.filter(isSchedulable).length ?? 0

function storePoll(context: WorkspaceContext, poll: NodePoll): void {
  const common = {fetched_at_unix_ms: context.now(), usable_ms: poll.usableMs}
  if ('error' in poll) {
    writeState(context, 'mesh_nodes', {...common, ok: false, error: poll.error})
    return
  }
  const {registry, listedAtMs, ownIds} = poll
  writeState(context, 'mesh_nodes', {
    ...common,
    ok: true,
    listed_at_unix_ms: listedAtMs,
    schema_version: typeof registry.schema_version === 'number' ? registry.schema_version : 1,
    node_count: registry.nodes.length,
    nodes: capped(
      registry.nodes.map((node) => rowOf(node, ownIds)),
      (row) => isSchedulable(remoteHint(row, context.config.staleThresholdMs, listedAtMs)),
    ),
  })
}

/** Deletes the last poll: its nodes are those of a control plane that is not used any more. */
export function deleteNodePoll(context: WorkspaceContext): void {
  if (readState(context, 'mesh_nodes') !== undefined) deleteState(context, 'mesh_nodes')
}

/** The last poll as shown in the status; undefined if there was none. */
export function federationCache(context: WorkspaceContext): OrchStatusV1['mesh_federation_cache'] {
  const polled = readState(context, 'mesh_nodes')
  if (polled === undefined) return undefined
  const {fetched_at_unix_ms} = polled
  if (!polled.ok) return {fetched_at_unix_ms, ok: false, error: polled.error, node_count: 0, nodes_brief: []}
  const {node_count, schema_version, nodes} = polled
  return {
    fetched_at_unix_ms,
    ok: true,
    node_count,
    schema_version,
    nodes_brief: nodes.map(({id, last_seen_unix_ms}) => ({id, last_seen_unix_ms})),
    ...(nodes.length < node_count ? {truncated: true as const} : {}),
  }
}

/** Keeps the rows within the maximum size: first the nodes that can receive work. */
function capped(rows: readonly PolledNode[], isPreferred: (row: PolledNode) => boolean): PolledNode[] {
  const preferred = new Set(rows.filter(isPreferred))
  const ordered = [...preferred, ...rows.filter((row) => !preferred.has(row))]
  const kept: PolledNode[] = []
  let bytes = 0
  for (const row of ordered) {
    const size = Buffer.byteLength(JSON.stringify(row)) + 1
    if (kept.length === maxNodes) break
    if (bytes + size > maxBytes) continue
    kept.push(row)
    bytes += size
  }
  return kept
}

/** Reads the members that are used. Those of another type, as from another version of the control plane, are omitted. */
const rowOf = (node: NodeRecord, ownIds: ReadonlySet<string>): PolledNode =>
  withoutUndefined({
    id: node.id,
    // A node that was never seen is stale.
    last_seen_unix_ms: wholeNumber(node.last_seen_unix_ms) ?? 0,
    capabilities: capabilitiesOf(node.capabilities),
    maintenance: node.maintenance === true ? true : undefined,
    maintenance_until_unix_ms: wholeNumber(node.maintenance_until_unix_ms),
    quarantined: node.quarantined === true ? true : undefined,
    gpu_total_count: wholeNumber(node.gpu_total_count),
    gpu_healthy_count: wholeNumber(node.gpu_healthy_count),
    gpu_allocatable_count: wholeNumber(node.gpu_allocatable_count),
    gpu_readiness_ok: typeof node.gpu_readiness_ok === 'boolean' ? node.gpu_readiness_ok : undefined,
    is_self: ownIds.has(node.id) ? (true as const) : undefined,
  })

const wholeNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/** The capabilities that a node has, without those that it lacks; undefined if one has the wrong type. */
function capabilitiesOf(value: unknown): Partial<Capabilities> | undefined {
  try {
    const offered = Object.entries(parseCapabilities(value)).filter(([, offers]) => offers !== false)
    return Object.fromEntries(offered)
  } catch {
    return undefined
  }
}
