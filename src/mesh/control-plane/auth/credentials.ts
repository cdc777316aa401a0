import {createSecretKey, hash, type KeyObject, timingSafeEqual} from 'node:crypto'
import {SvcError} from '../../../errors/index.js'
import {minTokenLength} from '../../../net/index.js'
import {type Role, tokenVariables} from '../../protocol/roles.js'
import {readResultKey} from './attestation.js'

/** What a control plane lets its clients in by, as texts. */
export interface MeshSecrets {
  /** Of the role mesh. */
  token?: string | undefined
  workerToken?: string | undefined
  submitterToken?: string | undefined
  adminToken?: string | undefined
  jwtHmacSecret?: string | undefined
  bootstrapToken?: string | undefined
  /** The token for new nodes has no end where this is left out. */
  bootstrapExpiresUnixMs?: number | undefined
  /** Ed25519 public key, 64 hexadecimal digits or base64. */
  workerResultVerifyKey?: string | undefined
}

/** Shortest key of HS256, bytes (RFC 7518, 3.2). */
const minHmacSecretBytes = 32

/** Where each secret comes from, for those who have to put it right. */
const variables = {
  token: tokenVariables.mesh,
  workerToken: tokenVariables.worker,
  submitterToken: tokenVariables.submitter,
  adminToken: tokenVariables.admin,
  jwtHmacSecret: 'SVC_MESH_JWT_HMAC_SECRET',
  bootstrapToken: tokenVariables.bootstrap,
} as const satisfies Partial<Record<keyof MeshSecrets, string>>

/** Secrets that are tokens of a role, in the order in which they are tried. */
const tokenRoles = [
  ['token', 'mesh'],
  ['workerToken', 'worker'],
  ['submitterToken', 'submitter'],
  ['adminToken', 'admin'],
] as const satisfies readonly (readonly [keyof MeshSecrets, Role])[]

/** The texts that are handed to new nodes; everything else is kept as a digest or a key. */
export interface HandedOut {
  mesh?: string | undefined
  worker?: string | undefined
  submitter?: string | undefined
}

/** The token for new nodes. */
export interface BootstrapGrant {
  /** SHA-256 of the token, hexadecimal. */
  digest: string
  /** Unix ms. */
  expiresMs: number
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/**
 * Who is let in. Built once, and again when the secrets change; a logger or an inspector that is handed it finds no
 * secret in it.
 */
export class Credentials {
  /** There is no secret at all: everybody may do everything. */
  readonly isOpen: boolean
  /** Verifies tokens that name their role themselves. */
  readonly jwtKey: KeyObject | undefined
  /** Verifies the signatures of results. */
  readonly resultKey: KeyObject | undefined
  readonly bootstrap: BootstrapGrant | undefined
  /** The token that each connection has shown last, of those that are known. */
  readonly #recognised = new WeakMap<object, {token: string; role: Role}>()
  readonly #digests: readonly (readonly [Role, Buffer])[]
  readonly #bootstrapDigest: Buffer | undefined
  readonly #handedOut: HandedOut

  constructor(secrets: MeshSecrets, nowMs: number) {
    const {jwtHmacSecret, bootstrapToken, bootstrapExpiresUnixMs = Number.MAX_SAFE_INTEGER} = secrets
    this.#digests = tokenRoles.flatMap(([name, role]) => {
      const text = secrets[name]
      return text ? [[role, sha256(text)] as const] : []
    })
    this.jwtKey = jwtHmacSecret ? createSecretKey(jwtHmacSecret, 'utf8') : undefined
    this.resultKey = readResultKey(secrets.workerResultVerifyKey)
    // One that has ended already is none: a mistake in its time must not make it last.
    if (bootstrapToken && bootstrapExpiresUnixMs > nowMs) {
      this.#bootstrapDigest = sha256(bootstrapToken)
      this.bootstrap = {digest: this.#bootstrapDigest.toString('hex'), expiresMs: bootstrapExpiresUnixMs}
    }
    this.#handedOut = {
      mesh: secrets.token || undefined,
      worker: secrets.workerToken || undefined,
      submitter: secrets.submitterToken || undefined,
    }
    this.isOpen = Object.keys(variables).every((name) => !secrets[name as keyof typeof variables])
  }

  /**
   * The role of an opaque token. Costs one digest, whatever the token is, but where it came on this connection before:
   * a digest is a tenth of what a heartbeat costs in all.
   * @param connection the same object for all requests of a connection
   */
  roleOf(token: string, connection?: object): Role | undefined {
    const before = connection && this.#recognised.get(connection)
    if (before !== undefined && isSameText(token, before.token)) return before.role
    const given = sha256(token)
    const role = this.#digests.find(([, digest]) => timingSafeEqual(given, digest))?.[0]
    if (role !== undefined && connection !== undefined) this.#recognised.set(connection, {token, role})
    return role
  }

  /** Whether this is the token for new nodes. */
  isBootstrap(token: string): boolean {
    return this.#bootstrapDigest !== undefined && timingSafeEqual(sha256(token), this.#bootstrapDigest)
  }

  /** For the exchange of the token for new nodes alone. */
  handOut(): HandedOut {
    return this.#handedOut
  }
}

/** Takes as long wherever two texts of one length differ: behind a proxy, strangers share a connection. */
function isSameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/**
 * @param nowMs time at which the server starts or reads its secrets anew
 * @throws mesh_tokens_equal, mesh_secret_weak
 */
export function readCredentials(secrets: MeshSecrets, nowMs = Date.now()): Credentials {
  refuseEqual(secrets)
  refuseWeak(secrets)
  return new Credentials(secrets, nowMs)
}

/** The key of tokens among them: a node whose token it was could make itself an administrator. */
function refuseEqual(secrets: MeshSecrets): void {
  const seen = new Map<string, string>()
  for (const [name, variable] of Object.entries(variables)) {
    const text = secrets[name as keyof typeof variables]
    if (!text) continue
    const first = seen.get(text)
    if (first !== undefined) throw new SvcError('mesh_tokens_equal', {first, second: variable})
    seen.set(text, variable)
  }
}

function refuseWeak({jwtHmacSecret, ...secrets}: MeshSecrets): void {
  if (jwtHmacSecret && Buffer.byteLength(jwtHmacSecret) < minHmacSecretBytes)
    throw new SvcError('mesh_secret_weak', {variable: variables.jwtHmacSecret, least: `${minHmacSecretBytes} bytes`})
  for (const name of ['token', 'workerToken', 'submitterToken', 'adminToken', 'bootstrapToken'] as const) {
    const text = secrets[name]
    if (text && [...text].length < minTokenLength)
      throw new SvcError('mesh_secret_weak', {variable: variables[name], least: `${minTokenLength} characters`})
  }
}
