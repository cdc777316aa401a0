import {createSecretKey, hash, type KeyObject, timingSafeEqual} from 'node:crypto'
import {SvcError} from '../../../errors/index.js'
import {minTokenLength} from '../../../net/index.js'
import {type Role, tokenVariables} from '../../protocol/roles.js'
import {readResultKey} from './attestation.js'

/** Secrets of a control plane in plain text. */
export interface MeshSecrets {
  token?: string | undefined
  workerToken?: string | undefined
  submitterToken?: string | undefined
  adminToken?: string | undefined
  jwtHmacSecret?: string | undefined
  bootstrapToken?: string | undefined
  /** Default: the bootstrap token does not expire. */
  bootstrapExpiresUnixMs?: number | undefined
  /** Ed25519 public key, 64 hexadecimal digits or base64. */
  workerResultVerifyKey?: string | undefined
}

/** Minimum length of an HS256 key, bytes (RFC 7518, 3.2). */
const minHmacSecretBytes = 32

/** Environment variable of each secret, for error messages. */
const variables = {
  token: tokenVariables.mesh,
  workerToken: tokenVariables.worker,
  submitterToken: tokenVariables.submitter,
  adminToken: tokenVariables.admin,
  jwtHmacSecret: 'SVC_MESH_JWT_HMAC_SECRET',
  bootstrapToken: tokenVariables.bootstrap,
} as const satisfies Partial<Record<keyof MeshSecrets, string>>

/** Secrets that are role tokens. */
const tokenRoles = [
  ['token', 'mesh'],
  ['workerToken', 'worker'],
  ['submitterToken', 'submitter'],
  ['adminToken', 'admin'],
] as const satisfies readonly (readonly [keyof MeshSecrets, Role])[]

/** Tokens that can be granted to new nodes. All other secrets are kept only as digests or keys. */
export interface GrantableTokens {
  mesh?: string | undefined
  worker?: string | undefined
  submitter?: string | undefined
}

export interface BootstrapGrant {
  /** SHA-256 of the token, hexadecimal. */
  digest: string
  /** Unix ms. */
  expiresMs: number
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/**
 * Credentials of a control plane; replaced when the secrets change. All secrets are in private fields, so that logging
 * or inspecting this object does not reveal them.
 */
export class Credentials {
  /** True if no secret is set: all requests have full access. */
  readonly isOpen: boolean
  /** Verifies signed tokens. */
  readonly jwtKey: KeyObject | undefined
  readonly resultKey: KeyObject | undefined
  readonly bootstrap: BootstrapGrant | undefined
  /** Last valid token of each connection. */
  readonly #recognised = new WeakMap<object, {token: string; role: Role}>()
  readonly #digests: readonly (readonly [Role, Buffer])[]
  readonly #bootstrapDigest: Buffer | undefined
  readonly #grantable: GrantableTokens

  constructor(secrets: MeshSecrets, nowMs: number) {
    const {jwtHmacSecret, bootstrapToken, bootstrapExpiresUnixMs = Number.MAX_SAFE_INTEGER} = secrets
    this.#digests = tokenRoles.flatMap(([name, role]) => {
      const text = secrets[name]
      return text ? [[role, sha256(text)] as const] : []
    })
    this.jwtKey = jwtHmacSecret ? createSecretKey(jwtHmacSecret, 'utf8') : undefined
    this.resultKey = readResultKey(secrets.workerResultVerifyKey)
    // An expired token is ignored, so that an unparsable expiry, read as 0, does not make it valid for ever.
    if (bootstrapToken && bootstrapExpiresUnixMs > nowMs) {
      this.#bootstrapDigest = sha256(bootstrapToken)
      this.bootstrap = {digest: this.#bootstrapDigest.toString('hex'), expiresMs: bootstrapExpiresUnixMs}
    }
    this.#grantable = {
      mesh: secrets.token || undefined,
      worker: secrets.workerToken || undefined,
      submitter: secrets.submitterToken || undefined,
    }
    this.isOpen = Object.keys(variables).every((name) => !secrets[name as keyof typeof variables])
  }

  /**
   * Role of an opaque token. Computes one digest unless the token equals the last one of the connection: a digest takes
   * a tenth of the time of a heartbeat.
   * @param connection object that identifies the connection
   */
  roleOf(token: string, connection?: object): Role | undefined {
    const before = connection && this.#recognised.get(connection)
    if (before !== undefined && isSameText(token, before.token)) return before.role
    const tokenDigest = sha256(token)
    const role = this.#digests.find(([, digest]) => timingSafeEqual(tokenDigest, digest))?.[0]
    if (role !== undefined && connection !== undefined) this.#recognised.set(connection, {token, role})
    return role
  }

  isBootstrap(token: string): boolean {
    return this.#bootstrapDigest !== undefined && timingSafeEqual(sha256(token), this.#bootstrapDigest)
  }

  /** Only for the bootstrap exchange. */
  grantableTokens(): GrantableTokens {
    return this.#grantable
  }
}

/** Constant-time comparison, because clients behind a proxy may share a connection. */
function isSameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/**
 * @param nowMs time of the start or reload, Unix ms
 * @throws mesh_tokens_equal, mesh_secret_weak
 */
export function readCredentials(secrets: MeshSecrets, nowMs = Date.now()): Credentials {
  refuseEqual(secrets)
  refuseWeak(secrets)
  return new Credentials(secrets, nowMs)
}

/** Includes the signing key: a node whose token equals the key could sign an admin token. */
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
