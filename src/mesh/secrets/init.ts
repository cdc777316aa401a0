import {randomBytes} from 'node:crypto'
import {hostname} from 'node:os'
import {resolve} from 'node:path'
import {
  meshEnvPath,
  meshServerSettings,
  meshSettings,
  readMeshEnv,
  resolveSettings,
  type SettingSources,
  settingTables,
} from '../../config/index.js'
import {commandLine, SvcError} from '../../errors/index.js'
import {readMeshSecrets} from './read-secrets.js'
import {heldSecrets, jwtSecret, roleTokens} from './variables.js'
import {changeMeshEnv, requireWritable} from './write-mesh-env.js'

export interface MeshInitOptions {
  root: string
  sources: SettingSources
  /** `create`: only if there are no secrets yet. `replace`: replace all. `bootstrap`: only a new bootstrap token. */
  how: 'create' | 'replace' | 'bootstrap'
  /** Also create a key for signed tokens. */
  jwt?: boolean
  scope?: string | undefined
  bootstrapMinutes: number
}

export interface MeshInit {
  path: string
  written: string[]
  /** Written variables that are overridden by a source with higher precedence. */
  overruled: string[]
  scope: string | undefined
  bootstrapToken: string
  bootstrapExpiresUnixMs: number
  /** Shell command to run on the new node; contains the token. */
  joinCommand: string
  /** Problems that would prevent a node from joining. */
  warnings: string[]
}

/** Random secret of 256 bits. */
const randomSecret = () => randomBytes(32).toString('base64url')

/**
 * Creates the secrets of a mesh and stores them in the file of the workspace. Only the bootstrap token is returned.
 * @throws mesh_exists, server_token_missing; usage, disk_full, file_unreadable
 */
export async function initMesh(options: MeshInitOptions): Promise<MeshInit> {
  const {root, sources, how, bootstrapMinutes} = options
  const scope = {SVC_MESH_SCOPE_ID: scopeOf(options.scope)}
  requireWritable(scope)
  const granted = how === 'bootstrap' ? grantedRole(sources) : 'worker'
  const bootstrapToken = randomSecret()
  const bootstrapExpiresUnixMs = Date.now() + bootstrapMinutes * 60_000
  const written = new Set<string>()
  const path = await changeMeshEnv(resolve(root), (now) => {
    const values = {
      ...(how === 'bootstrap' ? {} : permanentSecrets(now, options)),
      SVC_MESH_BOOTSTRAP_TOKEN: bootstrapToken,
      SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: String(bootstrapExpiresUnixMs),
      ...(scope.SVC_MESH_SCOPE_ID === undefined ? {} : scope),
    }
    for (const name of Object.keys(values)) written.add(name)
    return values
  })
  const names = [...written]
  const now = {...sources, envFile: readMeshEnv(root, sources.env, settingTables, sources.file)}
  const overruled = names.filter((name) => sources.env[name]?.trim() || now.envFile.origins[name] !== path)
  const address = addressFor(now)
  const {isLoopback} = await import('../../net/index.js')
  return {
    path,
    written: names,
    overruled,
    scope: resolveSettings(meshSettings, now).values.scopeId,
    bootstrapToken,
    bootstrapExpiresUnixMs,
    joinCommand: commandLine`SVC_MESH_BOOTSTRAP_TOKEN=${bootstrapToken} svc mesh join --bootstrap --control-url ${address}`,
    warnings: [
      ...(overruled.length === 0 ? [] : [`a source with higher precedence than ${path} sets ${overruled.join(', ')}.`]),
      ...(granted === 'worker'
        ? []
        : [
            'no worker token is set; new nodes can join only if the control plane is started with `svc mesh serve --bootstrap-grants mesh`.',
          ]),
      ...(isLoopback(new URL(address).hostname)
        ? [
            `other machines cannot reach ${address}; replace it with the name of this machine, ${hostname()}, and start the control plane with \`svc mesh serve --host 0.0.0.0\`.`,
          ]
        : []),
    ],
  }
}

function scopeOf(flag: string | undefined): string | undefined {
  const scope = flag?.trim()
  if (scope === '') throw new SvcError('usage', {reason: '--scope must not be empty.'})
  return scope
}

/** Role of the token that a new node can receive. @throws server_token_missing */
function grantedRole(sources: SettingSources): 'worker' | 'mesh' {
  const {workerToken, token} = readMeshSecrets(sources)
  if (!workerToken && !token) throw new SvcError('server_token_missing', {})
  return workerToken ? 'worker' : 'mesh'
}

/** Creates the secrets other than the bootstrap token. @throws mesh_exists */
function permanentSecrets(now: ReadonlyMap<string, string>, {root, how, jwt = false}: MeshInitOptions) {
  if (how === 'create' && heldSecrets(now).length > 0) throw new SvcError('mesh_exists', {path: meshEnvPath(root)})
  // Replace the old signing key together with the tokens: it could be used to sign tokens for ever.
  const names = jwt || now.has(jwtSecret) ? [...roleTokens, jwtSecret] : roleTokens
  return Object.fromEntries(names.map((name) => [name, randomSecret()]))
}

/** Address of the control plane: the configured one, or the address on which svc mesh serve would listen. */
function addressFor(sources: SettingSources): string {
  const {controlUrl} = resolveSettings(meshSettings, sources).values
  if (controlUrl !== undefined) return controlUrl
  const {host, port, tlsCertPath} = resolveSettings(meshServerSettings, sources).values
  const literal = host.includes(':') ? `[${host}]` : host
  const scheme = tlsCertPath === undefined ? 'http' : 'https'
  // The address type replaces a wildcard host with loopback.
  return meshSettings.rows.controlUrl.type.parse(`${scheme}://${literal}:${port}`) ?? ''
}
