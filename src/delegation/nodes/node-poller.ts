import {setTimeout as sleep} from 'node:timers/promises'
import type {SettingSources} from '../../config/index.js'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {
  claimerId,
  configuredClient,
  type ExecLease,
  everyNode,
  jittered,
  knownNodeId,
  type MeshClient,
  type Registry,
  redactAll,
  timeOf,
} from '../../mesh/index.js'
import {rebalance} from '../../scheduler/index.js'
import {type DaemonLease, deleteNodePoll, replayRoutes, writeNodePoll} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {LeaseReconciler, leaseMismatches, reconcileLog} from './reconcile-leases.js'

export interface NodePollerOptions {
  /** Lease of the daemon: only its holder writes to the store. */
  lease: DaemonLease
  sources: SettingSources
  signal: AbortSignal
  /** Returns numbers in [0, 1); default `Math.random`. */
  random?: () => number
}

export interface NodePoller {
  /** Aborts a running request. */
  close(): Promise<void>
}

/** Interval between checks of the settings, which a reload can change, ms. */
const checkMs = 1000
/** Number of intervals for which the nodes are used without another poll: then the daemon has probably died. */
const usableIntervals = 3

/**
 * Polls the nodes of the mesh while a control plane is configured, the first time at once, and stores them for the
 * processes of the workspace. A late poll delays the following ones. Errors are stored or logged.
 */
export function startNodePoller(context: WorkspaceContext, {signal, ...options}: NodePollerOptions): NodePoller {
  const over = new AbortController()
  const done = pollWhileConfigured(context, options, AbortSignal.any([signal, over.signal]))
  return {
    async close() {
      over.abort()
      await done
    },
  }
}

type Place = Omit<NodePollerOptions, 'signal'>

async function pollWhileConfigured(context: WorkspaceContext, place: Place, signal: AbortSignal): Promise<void> {
  const {random = Math.random} = place
  /** Null before the first check. */
  let url: string | undefined | null = null
  let source: NodeSource | undefined
  let polledMs = Number.NEGATIVE_INFINITY
  /** Drawn for each poll, so that daemons which started together do not poll together. */
  let drawn = 0
  while (!signal.aborted) {
    const {controlUrl, meshPollIntervalSecs} = context.config
    const intervalMs = jittered(meshPollIntervalSecs * 1000, () => drawn)
    const wanted = intervalMs > 0 ? controlUrl : undefined
    try {
      if (wanted !== url) {
        await source?.client.close()
        source = wanted === undefined ? undefined : await openSource(context, place.sources, wanted)
        url = wanted
        polledMs = Number.NEGATIVE_INFINITY
        if (source === undefined) place.lease.transaction(() => deleteNodePoll(context))
      }
      if (source !== undefined && performance.now() - polledMs >= intervalMs) {
        polledMs = performance.now()
        drawn = random()
        await poll(context, place.lease, source, signal)
      }
    } catch (error) {
      if (signal.aborted || isErrorOf(error, 'daemon_replaced')) break
      logger('svc.mesh').debug({err: error}, 'cannot store the nodes of the mesh')
    }
    const leftMs = source === undefined ? checkMs : Math.max(0, polledMs + intervalMs - performance.now())
    await sleep(Math.min(checkMs, leftMs), undefined, {signal}).catch(() => undefined)
  }
  await source?.client.close()
}

/** A control plane, with what is known about it between polls. */
interface NodeSource {
  client: MeshClient
  /** Ids of this machine. */
  ownIds: ReadonlySet<string>
  reconciler: LeaseReconciler
}

async function openSource(context: WorkspaceContext, sources: SettingSources, url: string): Promise<NodeSource> {
  const {config, repositoryId} = context
  const {meshNode, scopeId} = config
  const claimer = claimerId({nodeId: meshNode.nodeId, scopeId, repositoryId})
  // An unreadable id is reported when this machine joins the mesh.
  const own = await knownNodeId(sources).catch(() => undefined)
  return {
    client: configuredClient(sources, url, meshNode.nodeId),
    ownIds: new Set([claimer, ...(own === undefined ? [] : [own])]),
    reconciler: new LeaseReconciler(context, {sources, claimer}),
  }
}

/** @throws daemon_replaced, the errors of the store; the reason of the signal */
async function poll(
  context: WorkspaceContext,
  lease: DaemonLease,
  source: NodeSource,
  signal: AbortSignal,
): Promise<void> {
  const {config} = context
  const {meshExecLeaseReconcile, meshHttpTimeoutMs: timeoutMs, meshPollIntervalSecs} = config
  const {client, ownIds, reconciler} = source
  const options = {signal, timeoutMs}
  // Listed before the nodes, so that a node that joins in between is not reported as missing.
  const leases = meshExecLeaseReconcile ? await listLeases(client, options) : undefined
  const listed = await listNodes(client, options)
  const usableMs = usableIntervals * Math.max(meshPollIntervalSecs * 1000, timeoutMs)
  if (listed instanceof SvcError) {
    applyPoll(context, lease, {usableMs, error: client.redact(listed.message)})
    reconciler.reset()
    return
  }
  const listedAtMs = timeOf(listed)
  applyPoll(context, lease, {usableMs, registry: listed, listedAtMs, ownIds})
  if (leases === undefined) reconciler.reset()
  else {
    const listing = {nodes: listed.nodes, listedAtMs, staleMs: config.staleThresholdMs}
    await reconciler.reconcile(client, leaseMismatches(leases, listing), signal)
  }
}

interface RequestOptions {
  signal: AbortSignal
  timeoutMs: number
}

/** Lists all nodes, or returns the error. @throws the reason of the signal */
async function listNodes(client: MeshClient, options: RequestOptions): Promise<Registry | SvcError> {
  try {
    const registry = await everyNode(client, {}, options)
    return {...registry, nodes: redactAll(registry.nodes, client.redact)}
  } catch (error) {
    options.signal.throwIfAborted()
    logger('svc.mesh').debug({err: error}, 'cannot list the nodes of the mesh')
    return SvcError.from(error)
  }
}

/** Undefined if the token does not permit it, or the request fails. @throws the reason of the signal */
async function listLeases(client: MeshClient, options: RequestOptions): Promise<ExecLease[] | undefined> {
  try {
    return redactAll(await client.listLeases({...options, retry: false}), client.redact)
  } catch (error) {
    options.signal.throwIfAborted()
    reconcileLog().debug({err: error}, 'cannot list the leases')
    return undefined
  }
}

/** Stores a poll. If fewer nodes than before can receive work, moves queued tasks as far as this is enabled. */
function applyPoll(context: WorkspaceContext, lease: DaemonLease, result: Parameters<typeof writeNodePoll>[1]): void {
  lease.transaction(() => {
    if (writeNodePoll(context, result)) onFewerNodes(context)
  })
}

function onFewerNodes(context: WorkspaceContext): void {
  const {meshRoutingExperimental, meshRebalanceOnRemoteSchedulableDrop, meshReplayQueuedRoutesOnRemoteSchedulableDrop} =
    context.config
  if (!meshRoutingExperimental) return
  if (meshRebalanceOnRemoteSchedulableDrop) rebalance(context)
  if (meshReplayQueuedRoutesOnRemoteSchedulableDrop) replayRoutes(context)
}
