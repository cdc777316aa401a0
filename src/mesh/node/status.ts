import {meshServerSettings, meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {lockHolder} from '../../files/index.js'
import type {MeshClient} from '../client/client.js'
import {MeshHttpError} from '../client/error.js'
import type {QueueStats} from '../protocol/message.js'
import type {Replica} from '../protocol/replica.js'
import {workerLock, workFolder} from './home.js'
import {type LocalRegistry, readLocalRegistry, registryPath} from './local-registry.js'
import {type MeshSecurity, meshSecurity} from './local-status.js'
import {findOverlays, type Overlay} from './overlay.js'
import {knownNodeId, type SelfRecord, selfFacts} from './self-record.js'

export type MeshState = 'unconfigured' | 'unreachable' | 'denied' | 'connected'

export interface MeshStatus {
  state: MeshState
  control_url: string | null
  health_ok: boolean
  /** Reason why the control plane cannot be used. */
  error: string | null
  /** File of the first secret that comes from a file. */
  env_file: string | null
  security: MeshSecurity
  overlay: Overlay[]
  /** Endpoint of the overlay network of the mesh; svc does not connect to it. */
  wireguard_endpoint: string | null
  registry_path: string
  registry: LocalRegistry | null
  /** Reason why the local registry cannot be read. */
  registry_error: string | null
  /** The id is null if none is configured or stored yet. */
  self_record: Omit<SelfRecord, 'id'> & {id: string | null}
  /** Process of this machine that runs the tasks of other machines. */
  worker: {pid: number; since_unix_ms: number} | null
  queue: QueueStats | null
  /** Control planes that share the database; null if unknown. */
  replicas: Replica[] | null
}

/** Timeout of the health check, ms. */
const healthMs = 2000

/**
 * @param client undefined if no control plane is configured
 * @throws file_unreadable if the stored node id is invalid
 */
export async function meshStatus(
  sources: SettingSources,
  {client, version, signal}: {client: MeshClient | undefined; version: string; signal: AbortSignal},
): Promise<MeshStatus> {
  const path = registryPath(sources)
  const [remote, registry, overlay, id, holder] = await Promise.all([
    askControlPlane(client, signal),
    readLocalRegistry(path).catch((error: unknown) => SvcError.from(error)),
    findOverlays(sources.env),
    knownNodeId(sources),
    lockHolder(workerLock(workFolder(sources.env))),
  ])
  const {controlUrl = null} = resolveSettings(meshSettings, sources).values
  const {wireguardEndpoint = null} = resolveSettings(meshServerSettings, sources).values
  const isRead = !(registry instanceof SvcError)
  return {
    ...remote,
    control_url: controlUrl,
    env_file: Object.values(sources.envFile?.origins ?? {})[0] ?? null,
    security: meshSecurity(sources),
    overlay,
    wireguard_endpoint: wireguardEndpoint,
    registry_path: path,
    registry: isRead ? registry : null,
    registry_error: isRead ? null : registry.message,
    self_record: {...selfFacts(sources, version), id: id ?? null},
    worker: holder === undefined ? null : {pid: holder.pid, since_unix_ms: holder.sinceMs},
  }
}

type Remote = Pick<MeshStatus, 'state' | 'health_ok' | 'error' | 'queue' | 'replicas'>

async function askControlPlane(client: MeshClient | undefined, signal: AbortSignal): Promise<Remote> {
  const unknown = {health_ok: false, error: null, queue: null, replicas: null}
  if (client === undefined) return {...unknown, state: 'unconfigured'}
  const messageOf = (error: unknown) => {
    signal.throwIfAborted()
    return client.redact(SvcError.from(error).message)
  }
  try {
    await client.health({signal, retry: false, timeoutMs: healthMs})
  } catch (error) {
    return {...unknown, state: 'unreachable', error: messageOf(error)}
  }
  try {
    const {replicas = null, ...queue} = await client.queueStats({signal, retry: false})
    return {state: 'connected', health_ok: true, error: null, queue, replicas}
  } catch (error) {
    const isDenied = error instanceof MeshHttpError && error.isStatus(401, 403)
    return {...unknown, state: isDenied ? 'denied' : 'unreachable', health_ok: true, error: messageOf(error)}
  }
}
