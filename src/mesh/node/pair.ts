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

/** What a machine was let in with. */
export interface Pairing {
  /** Where the tokens are kept. */
  path: string
  role: 'worker' | 'mesh'
  scope: string | null
}

/** What newer control planes give besides: the role of the token, and a token to deliver with. */
type Given = BootstrapGrant & {role?: string; submitter_token?: string}

interface PairOptions {
  /** The token for new nodes. */
  token: string
  node: string
  folder: string
  /** Take the place of what lets this machine into another mesh, or lets others into its own. */
  force?: boolean | undefined
  /** Its variables count more than the file; that of the process where it is left out. */
  env?: SettingSources['env'] | undefined
  signal: AbortSignal
}

/**
 * Exchanges the token for new nodes for those that this machine keeps, with the address of the control plane, in the
 * `mesh.env` of a folder. Of the tokens that were kept there before none stays: it might be shown in the place of the new
 * ones. That the file can be written, holds no secrets of another control plane, and is overruled by nothing is seen before
 * the token is used up, as it works once.
 * @throws MeshHttpError; mesh_exists, mesh_secrets_overruled; disk_full, file_unreadable
 */
export async function pair(
  client: Pick<MeshClient, 'baseUrl' | 'exchangeBootstrap'>,
  {token, node, folder, force = false, env = process.env, signal}: PairOptions,
): Promise<Pairing> {
  registerSecret(token)
  const overruling = strongerTokens(folder, env)
  if (overruling.length > 0) throw new SvcError('mesh_secrets_overruled', {variables: overruling})
  await changeMeshEnv(folder, (now) => {
    if (!force && isOfAnother(now, client.baseUrl)) throw new SvcError('mesh_exists', {path: meshEnvPath(folder)})
    return {}
  })
  const given: Given = await client.exchangeBootstrap(token, {node, signal})
  const {mesh_token: main, submitter_token: submitter, scope_id: scope} = given
  const role = given.role === 'worker' ? 'worker' : 'mesh'
  for (const secret of [main, submitter]) registerSecret(secret)
  const kept = {
    SVC_MESH_CONTROL_ADDR: client.baseUrl,
    [role === 'worker' ? 'SVC_MESH_WORKER_TOKEN' : 'SVC_MESH_TOKEN']: main,
    ...(submitter === undefined ? {} : {SVC_MESH_SUBMITTER_TOKEN: submitter}),
    ...(scope === null ? {} : {SVC_MESH_SCOPE_ID: scope}),
  }
  const path = await changeMeshEnv(folder, () => ({...none, ...kept}))
  return {path, role, scope}
}

/** Nothing that let in before may stay: it would be shown in the place of what is given, perhaps to another mesh. */
const none: MeshEnvValues = Object.fromEntries(
  [...roleTokens, jwtSecret, 'SVC_MESH_BOOTSTRAP_TOKEN', 'SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS', 'SVC_MESH_SCOPE_ID'].map(
    (name) => [name, undefined],
  ),
)

/** Tokens that would be shown in the place of those in the `mesh.env` of a folder. */
function strongerTokens(folder: string, env: SettingSources['env']): string[] {
  const path = meshEnvPath(resolve(folder))
  // The file of the home folder is weaker, and what it keeps is for another control plane.
  const {origins} = readMeshEnv(folder, {...env, HOME: undefined, USERPROFILE: undefined}, settingTables)
  return givenTokens.filter((name) => env[name]?.trim() || (origins[name] ?? path) !== path)
}

/** Those of the roles that a new node may be given. */
const givenTokens = roleTokens.filter((name) => name !== 'SVC_MESH_ADMIN_TOKEN')

/** Whether secrets were kept for another control plane, or for one of this machine. */
function isOfAnother(now: ReadonlyMap<string, string>, address: string): boolean {
  const {controlUrl} = resolveSettings(meshSettings, {env: Object.fromEntries(now)}).values
  return heldSecrets(now).length > 0 && controlUrl !== address
}
