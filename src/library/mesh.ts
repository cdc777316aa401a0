import {meshServerSettings, resolveSettings} from '../config/index.js'
import {
  type ControlPlane,
  type MeshSecrets,
  openSqliteMeshStore,
  readCredentials,
  startControlPlane,
} from '../mesh/index.js'

export {SvcError} from '../errors/index.js'
export {
  type ControlPlane,
  createMeshClient,
  type GrantedLease,
  type HeldLease,
  type HoldOptions,
  holdLease,
  type JoinRecord,
  LeaseLoss,
  type Membership,
  type MembershipEvent,
  type MembershipOptions,
  type MeshClient,
  type MeshClientOptions,
  MeshHttpError,
  type MeshSecrets,
  startMembership,
} from '../mesh/index.js'

/** Settings of a control plane. Defaults are those of `svc mesh serve`, except for the port. */
export interface ControlPlaneSettings {
  /** Loopback by default; other addresses require secrets. */
  host?: string
  /** 0 selects a free port. */
  port?: number
  /** Tokens and keys that authenticate clients. Without any, every client on this machine has full access. */
  secrets?: MeshSecrets
  scope?: string
}

/**
 * Starts a control plane that stores its nodes, leases and messages in a SQLite file. Close it when done.
 * @param path of the database; `:memory:` stores nothing on disk
 * @throws SvcError mesh_unprotected, mesh_secret_weak, mesh_tokens_equal, port_in_use, store_unopenable
 *
 * @example
 * const controlPlane = await openControlPlane('mesh.db')
 * const client = createMeshClient({baseUrl: controlPlane.baseUrl, tokens: {}})
 * await client.join({id: 'laptop', version: '1.0.0', capabilities: {}})
 */
export async function openControlPlane(
  path: string,
  {host = '127.0.0.1', port = 0, secrets = {}, scope = ''}: ControlPlaneSettings = {},
): Promise<ControlPlane> {
  const {leaseMs, maxMessages, maxBodyBytes, stalePruneMs, heartbeatsPerSec} = resolveSettings(meshServerSettings, {
    env: {},
  }).values
  const credentials = readCredentials(secrets)
  const store = await openSqliteMeshStore(path, {leaseMs, maxMessages, maxMessagesPerReceiver: maxMessages})
  return startControlPlane({
    address: {host, port},
    store,
    credentials,
    scope,
    maxBodyBytes,
    stalePruneMs,
    heartbeatsPerSec,
  })
}
