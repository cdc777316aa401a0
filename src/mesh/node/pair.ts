import {resolve} from 'node:path'
import {
  meshEnvPath,
  meshSettings,
  readMeshEnv,
  resolveSettings,
  type SettingSources,
  settingTables,
} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {registerSecret} from '../../log/index.js'
import type {MeshClient} from '../client/client.js'
import type {BootstrapGrant} from '../client/requests.js'
import {heldSecrets, jwtSecret, roleTokens} from '../secrets/variables.js'
import {changeMeshEnv, type MeshEnvValues} from '../secrets/write-mesh-env.js'

/** Result of joining with a bootstrap token. */
export interface Pairing {
  /** File that stores the tokens. */
  path: string
  role: 'worker' | 'mesh'
  scope: string | null
}

/** Newer control planes also return the role of the token and a token for deliveries. */
type Grant = BootstrapGrant & {role?: string; submitter_token?: string}

interface PairOptions {
  token: string
  node: string
  folder: string
  /** Replace stored secrets of another mesh. */
  force?: boolean | undefined
  /** Environment, whose variables override the file; default: that of the process. */
  env?: SettingSources['env'] | undefined
  signal: AbortSignal
}

/**
 * Exchanges the bootstrap token for permanent tokens and stores them with the address of the control plane in the
 * `mesh.env` of a folder. All previous tokens are removed, because they might be used instead of the new ones. The
 * token works only once, so everything that could fail is checked first. The file must be writable, must not contain
 * secrets of another control plane, and must not be overridden by the environment.
 * @throws MeshHttpError; mesh_exists, mesh_secrets_overruled; disk_full, file_unreadable
 */
export async function pair(
  client: Pick<MeshClient, 'baseUrl' | 'exchangeBootstrap'>,
  {token, node, folder, force = false, env = process.env, signal}: PairOptions,
): Promise<Pairing> {
  registerSecret(token)
  const overriding = overridingVariables(folder, env)
  if (overriding.length > 0) throw new SvcError('mesh_secrets_overruled', {variables: overriding})
  await changeMeshEnv(folder, (now) => {
    if (!force && isOfAnother(now, client.baseUrl)) throw new SvcError('mesh_exists', {path: meshEnvPath(folder)})
    return {}
  })
  const grant: Grant = await client.exchangeBootstrap(token, {node, signal})
  const {mesh_token: main, submitter_token: submitter, scope_id: scope} = grant
  const role = grant.role === 'worker' ? 'worker' : 'mesh'
  for (const secret of [main, submitter]) registerSecret(secret)
  const values = {
    SVC_MESH_CONTROL_ADDR: client.baseUrl,
    [role === 'worker' ? 'SVC_MESH_WORKER_TOKEN' : 'SVC_MESH_TOKEN']: main,
    ...(submitter === undefined ? {} : {SVC_MESH_SUBMITTER_TOKEN: submitter}),
    ...(scope === null ? {} : {SVC_MESH_SCOPE_ID: scope}),
  }
  const path = await changeMeshEnv(folder, () => ({...cleared, ...values}))
  return {path, role, scope}
}

/** Old secrets must be removed: they would be sent instead of the new ones, perhaps to another mesh. */
const cleared: MeshEnvValues = Object.fromEntries(
  [...roleTokens, jwtSecret, 'SVC_MESH_BOOTSTRAP_TOKEN', 'SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS', 'SVC_MESH_SCOPE_ID'].map(
    (name) => [name, undefined],
  ),
)

/** Variables whose values in stronger sources would override those in the `mesh.env` of a folder. */
function overridingVariables(folder: string, env: SettingSources['env']): string[] {
  const path = meshEnvPath(resolve(folder))
  // The file in the home folder has a lower precedence and may belong to another control plane.
  const {origins} = readMeshEnv(folder, {...env, HOME: undefined, USERPROFILE: undefined}, settingTables)
  return grantedTokens.filter((name) => env[name]?.trim() || (origins[name] ?? path) !== path)
}

/** Variables of the tokens that a new node may receive. */
const grantedTokens = roleTokens.filter((name) => name !== 'SVC_MESH_ADMIN_TOKEN')

/** True if the file contains secrets of another control plane, or of one on this machine. */
function isOfAnother(now: ReadonlyMap<string, string>, address: string): boolean {
  const {controlUrl} = resolveSettings(meshSettings, {env: Object.fromEntries(now)}).values
  return heldSecrets(now).length > 0 && controlUrl !== address
}
