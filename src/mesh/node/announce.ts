import {meshNodeSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {logger} from '../../log/index.js'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import {type MembershipEvent, startMembership} from '../client/membership.js'
import {configuredClient} from './configured-client.js'
import {type EventPlace, keepsControlEvents, recordControlEvent} from './control-events.js'
import {publishNode, registryPath} from './local-registry.js'
import {type SelfRecord, selfRecord} from './self-record.js'

export interface Announcement {
  sources: SettingSources
  version: string
  /** Opens the store that events are written into; asked only where they are wanted. */
  place: () => Promise<EventPlace>
  /** Called with what a person should know. */
  notice: (text: string) => void
}

/**
 * Does the work of a process that goes on for long, as a node where the mesh is enabled: the registry of the machine
 * lists it from then on, and the control plane hears of it while the work lasts. Nothing of that is waited for, and
 * what fails is logged and stops nothing.
 */
export async function whileAnnounced<T>(announcement: Announcement, work: () => Promise<T>): Promise<T> {
  if (!resolveSettings(meshNodeSettings, announcement.sources).values.enabled) return work()
  const over = new AbortController()
  const announced = announce(announcement, over.signal).catch((error: unknown) =>
    logger('svc.mesh').debug({err: error}, 'this machine could not be announced as a node'),
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
  const record = await selfRecord(sources, version)
  const onEvent = await announceHere(announcement, record)
  await joinInBackground(sources, {record, onEvent, signal})
}

/**
 * Puts this machine into its registry, where the mesh is enabled; what fails of that is logged.
 * @returns a listener for the events of a membership, which logs and records them
 */
export async function announceHere(
  {sources, place, notice}: Omit<Announcement, 'version'>,
  record: SelfRecord,
): Promise<(event: MembershipEvent) => void> {
  const events = keepsControlEvents(sources) ? await place().catch(() => undefined) : undefined
  const isEnabled = resolveSettings(meshNodeSettings, sources).values.enabled
  if (isEnabled)
    await publishHere({sources, notice, record, events}).catch((error: unknown) =>
      logger('svc.mesh').debug({err: error}, 'the registry of this machine could not be written'),
    )
  return (event) => {
    logEvent(event)
    if (events !== undefined) recordJoin(event, {sources, record, events})
  }
}

interface Here extends Pick<Announcement, 'sources' | 'notice'> {
  record: SelfRecord
  events: EventPlace | undefined
}

/** @throws file_unreadable, disk_full */
async function publishHere({sources, notice, record, events}: Here): Promise<void> {
  const path = registryPath(sources)
  const nowMs = Date.now()
  const {movedTo} = await publishNode(path, {...record, last_seen_unix_ms: nowMs}, nowMs)
  if (movedTo !== undefined) notice(`notice: ${path} was damaged; it lies in ${movedTo} now.`)
  if (events === undefined) return
  recordControlEvent(events, sources, {
    name: 'local_registry_publish',
    details: {registry_path: path, node_id: record.id, scope_id: record.scope_id ?? null},
  })
}

/**
 * The processes of a machine are one node, and this one may be the least of them: it sends no incarnation, so that it
 * takes the place of none that leads the node, and its whole record only where the node is not known, so that the
 * labels and what else another process has reported stay.
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
    log.debug({err: event.error}, `the control plane did not take this node in: ${event.type}`)
  else if (event.type !== 'heartbeat')
    log.debug(`this node has ${event.type === 'joined' ? 'joined' : 'to join again'}`)
}

/** Of failures in a row the first one is written down. */
function recordJoin(
  event: MembershipEvent,
  {sources, record, events}: {sources: SettingSources; record: SelfRecord; events: EventPlace},
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
