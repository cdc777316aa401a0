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
import {SvcError} from '../../errors/index.js'
import {readMeshSecrets} from './read-secrets.js'
import {heldSecrets, jwtSecret, roleTokens} from './variables.js'
import {changeMeshEnv, requireKeepable} from './write-mesh-env.js'

export interface MeshInitOptions {
  /** The workspace, whose file it is. */
  root: string
  sources: SettingSources
  /** `create`: where there are none yet. `replace`: all of them anew. `bootstrap`: a token for the next node alone. */
  how: 'create' | 'replace' | 'bootstrap'
  /** Make a key of tokens that name their role themselves, too. */
  jwt?: boolean
  scope?: string | undefined
  bootstrapMinutes: number
}

export interface MeshInit {
  path: string
  /** Names of the variables that were set. */
  written: string[]
  /** Those among them that count for nothing here, since a stronger source sets them too. */
  overruled: string[]
  scope: string | undefined
  bootstrapToken: string
  bootstrapExpiresUnixMs: number
  /** The line for the other machine, as a shell takes it; it has the token in it. */
  joinCommand: string
  /** What stands between this and a node that is let in. */
  warnings: string[]
}

/** 256 bits. */
const freshSecret = () => randomBytes(32).toString('base64url')

/**
 * Makes the secrets of a mesh and keeps them in the file of the workspace. The token for the next node is the only one
 * that is handed back.
 * @throws mesh_exists, server_token_missing; usage, disk_full, file_unreadable
 */
export async function initMesh(options: MeshInitOptions): Promise<MeshInit> {
  const {root, sources, how, bootstrapMinutes} = options
  const given = {SVC_MESH_SCOPE_ID: scopeOf(options.scope)}
  requireKeepable(given)
  const gives = how === 'bootstrap' ? givenTo(sources) : 'worker'
  const bootstrapToken = freshSecret()
  const bootstrapExpiresUnixMs = Date.now() + bootstrapMinutes * 60_000
  const written = new Set<string>()
  const path = await changeMeshEnv(resolve(root), (now) => {
    const values = {
      ...(how === 'bootstrap' ? {} : lasting(now, options)),
      SVC_MESH_BOOTSTRAP_TOKEN: bootstrapToken,
      SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS: String(bootstrapExpiresUnixMs),
      ...(given.SVC_MESH_SCOPE_ID === undefined ? {} : given),
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
    joinCommand: `SVC_MESH_BOOTSTRAP_TOKEN=${bootstrapToken} svc mesh join --bootstrap --control-url ${quoted(address)}`,
    warnings: [
      ...(overruled.length === 0 ? [] : [`a stronger source than ${path} sets ${overruled.join(', ')}.`]),
      ...(gives === 'worker'
        ? []
        : ['there is no token of a worker; the node is let in where svc mesh serve has --bootstrap-grants mesh.']),
      ...(isLoopback(new URL(address).hostname)
        ? [
            `other machines do not reach ${address}; put the name of this one, ${hostname()}, in its place for them, and start svc mesh serve with --host 0.0.0.0.`,
          ]
        : []),
    ],
  }
}

function scopeOf(given: string | undefined): string | undefined {
  const scope = given?.trim()
  if (scope === '') throw new SvcError('usage', {reason: '--scope takes a scope id, not nothing.'})
  return scope
}

/** What a new node could be given. @throws server_token_missing */
function givenTo(sources: SettingSources): 'worker' | 'mesh' {
  const {workerToken, token} = readMeshSecrets(sources)
  if (!workerToken && !token) throw new SvcError('server_token_missing', {})
  return workerToken ? 'worker' : 'mesh'
}

/** The secrets that stay when a node has joined. @throws mesh_exists */
function lasting(now: ReadonlyMap<string, string>, {root, how, jwt = false}: MeshInitOptions) {
  if (how === 'create' && heldSecrets(now).length > 0) throw new SvcError('mesh_exists', {path: meshEnvPath(root)})
  // The old key goes with the old tokens: tokens could be made with it for ever.
  const names = jwt || now.has(jwtSecret) ? [...roleTokens, jwtSecret] : roleTokens
  return Object.fromEntries(names.map((name) => [name, freshSecret()]))
}

/** Where clients find the control plane: the configured address, else where svc mesh serve listens with these settings. */
function addressFor(sources: SettingSources): string {
  const {controlUrl} = resolveSettings(meshSettings, sources).values
  if (controlUrl !== undefined) return controlUrl
  const {host, port, tlsCertPath} = resolveSettings(meshServerSettings, sources).values
  const literal = host.includes(':') ? `[${host}]` : host
  const scheme = tlsCertPath === undefined ? 'http' : 'https'
  // The type of addresses puts loopback in the place of a host that means every interface.
  return meshSettings.rows.controlUrl.type.parse(`${scheme}://${literal}:${port}`) ?? ''
}

/** As a shell takes it for one word. */
const quoted = (word: string): string => (/^[\w.:/@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
