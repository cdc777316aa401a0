import {meshNodeSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {logger} from '../../log/index.js'
import type {MetricPlace} from '../../telemetry/index.js'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import {type MembershipEvent, startMembership} from '../client/membership.js'
import {configuredClient} from './configured-client.js'
import {keepsControlEvents, recordControlEvent} from './control-events.js'
import {knownGpus, probeGpus} from './gpu-probe.js'
import {publishNode, registryPath} from './local-registry.js'
import {type SelfRecord, selfRecord} from './self-record.js'

export interface Announcement {
  sources: SettingSources
  version: string
  /** Opens the store for control events; called only if they are enabled. */
  place: () => Promise<MetricPlace>
  notice: (text: string) => void
}

/**
 * Runs a long-lived process as a mesh node, if the mesh is enabled. Registers the node in the local registry and keeps
 * it joined to the control plane while the work runs. This happens in the background; errors are only logged.
 */
export async function whileAnnounced<T>(announcement: Announcement, work: () => Promise<T>): Promise<T> {
  if (!resolveSettings(meshNodeSettings, announcement.sources).values.enabled) return work()
  const over = new AbortController()
  const announced = announce(announcement, over.signal).catch((error: unknown) =>
    logger('svc.mesh').debug({err: error}, 'cannot announce this node'),
  )
  try {
    return await work()
  } finally {
    over.abort()
    await announced
  }
}

async function announce(announcement: Announcement, signal: AbortSignal): Promise<void> {
  const {sources, version} = announcement
  if (knownGpus() === undefined) await probeGpus(sources)
  const record = await selfRecord(sources, version)
  const onEvent = await announceHere(announcement, record)
  await joinInBackground(sources, {record, onEvent, signal})
}

/**
 * Adds this node to the local registry, if the mesh is enabled. Errors are only logged.
 * @returns listener that logs and records the events of a membership
 */
export async function announceHere(
  {sources, place, notice}: Omit<Announcement, 'version'>,
  record: SelfRecord,
): Promise<(event: MembershipEvent) => void> {
  const events = keepsControlEvents(sources) ? await place().catch(() => undefined) : undefined
  const isEnabled = resolveSettings(meshNodeSettings, sources).values.enabled
  if (isEnabled)
    await publishHere({sources, notice, record, events}).catch((error: unknown) =>
      logger('svc.mesh').debug({err: error}, 'cannot write the local registry'),
    )
  return (event) => {
    logEvent(event)
    if (events !== undefined) recordJoin(event, {sources, record, events})
  }
}

interface Here extends Pick<Announcement, 'sources' | 'notice'> {
  record: SelfRecord
  events: MetricPlace | undefined
}

/** @throws file_unreadable, disk_full */
async function publishHere({sources, notice, record, events}: Here): Promise<void> {
  const path = registryPath(sources)
  const nowMs = Date.now()
  const {movedTo} = await publishNode(path, {...record, last_seen_unix_ms: nowMs}, nowMs)
  if (movedTo !== undefined) notice(`notice: ${path} was corrupt and has been moved to ${movedTo}.`)
  if (events === undefined) return
  recordControlEvent(events, sources, {
    name: 'local_registry_publish',
    details: {registry_path: path, node_id: record.id, scope_id: record.scope_id ?? null},
  })
}

/**
 * All processes of a machine are the same node, and this one must not override the main process. It sends no
 * incarnation, so that it does not replace another process. It sends its full record only if the node is unknown, so
 * that it does not overwrite the labels that another process has reported.
 */
const asOneOfMany = (client: MeshClient): Pick<MeshClient, 'join' | 'heartbeat' | 'leave'> => ({
  async join({incarnation: _, seq: __, ...record}, options) {
    const {id, scope_id: scope} = record
    try {
      return await client.heartbeat({id, ...(scope === undefined ? {} : {scope_id: scope})}, options)
    } catch (error) {
      if (error instanceof MeshHttpError && error.isStatus(404)) return client.join(record, options)
      throw error
    }
  },
  heartbeat: ({incarnation: _, seq: __, ...record}, options) => client.heartbeat(record, options),
  leave: (node, options) => client.leave(node, options),
})

interface Joining {
  record: SelfRecord
  onEvent: (event: MembershipEvent) => void
  signal: AbortSignal
}

async function joinInBackground(sources: SettingSources, {record, onEvent, signal}: Joining): Promise<void> {
  const {httpJoin, heartbeatSecs} = resolveSettings(meshNodeSettings, sources).values
  const {controlUrl} = resolveSettings(meshSettings, sources).values
  if (!httpJoin || controlUrl === undefined || signal.aborted) return
  const client = configuredClient(sources, controlUrl, record.id)
  try {
    await startMembership(asOneOfMany(client), {record: () => record, heartbeatSecs, onEvent, signal}).done
  } finally {
    await client.close()
  }
}

function logEvent(event: MembershipEvent): void {
  const log = logger('svc.mesh')
  if (event.type === 'failed' || event.type === 'replaced')
    log.debug({err: event.error}, `mesh membership ${event.type}`)
  else if (event.type !== 'heartbeat')
    log.debug(`this node ${event.type === 'joined' ? 'joined the mesh' : 'must join the mesh again'}`)
}

/** Records successful joins, and only the first of consecutive failures. */
function recordJoin(
  event: MembershipEvent,
  {sources, record, events}: {sources: SettingSources; record: SelfRecord; events: MetricPlace},
): void {
  const {controlUrl = ''} = resolveSettings(meshSettings, sources).values
  const common = {control_base: controlUrl, node_id: record.id, scope_id: record.scope_id ?? null}
  if (event.type === 'joined')
    recordControlEvent(events, sources, {name: 'mesh_http_join_ok', details: {...common, ok: true, error: null}})
  else if (event.type === 'failed' && event.operation === 'join' && event.failures === 1)
    recordControlEvent(events, sources, {
      name: 'mesh_http_join_err',
      details: {...common, ok: false, error: event.error.message},
    })
}
