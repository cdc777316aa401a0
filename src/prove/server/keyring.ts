import {createHmac, randomBytes} from 'node:crypto'
import {type Role, tokenVariables} from '../../mesh/index.js'
import type {Credential} from '../history/history.js'

/** Secrets of a server between two rotations. */
export interface Generation {
  tokens: Readonly<Record<Role, string>>
  jwtSecret: string
  /** Expiry of the bootstrap token, Unix ms. */
  bootstrapExpiresMs: number
}

const dayMs = 86_400_000
/** Lifetime of a signed token, s. */
const tokenLifeSec = 60

export interface Keyring {
  /** Generation that clients use. */
  current: number
  /** Creates the next generation. Clients use it once `current` is set. */
  add(options?: {isBootstrapExpired?: boolean}): number
  /** Secrets file of the server for a generation. */
  environmentFile(generation: number): string
  /** Secrets file of an orchestrator or worker for a generation. */
  programFile(generation: number): string
  /** Credential that a token stands for. */
  credentialOf(token: string | undefined): Credential
  /** Token text of a credential; undefined if the client presents none. */
  textOf(shown: Credential, node: string | undefined, nowMs: number): string | undefined
  /** All secrets of the run, by names that may be reported. */
  secrets(): Map<string, string>
}

/** Encoded exactly as by jose, which the server uses: see `secrets`. */
const header = part({alg: 'HS256', typ: 'JWT'})

/** Creates the random tokens of a run, which are never logged. */
export function createKeyring(scope: string): Keyring {
  const generations: Generation[] = []
  const randomToken = () => randomBytes(24).toString('base64url')

  const of = (generation: number): Generation => {
    const found = generations[generation]
    if (found === undefined) throw new RangeError(`Token generation ${generation} does not exist.`)
    return found
  }

  return {
    current: 0,
    add({isBootstrapExpired = false} = {}) {
      const tokens = {
        mesh: randomToken(),
        admin: randomToken(),
        worker: randomToken(),
        submitter: randomToken(),
        bootstrap: randomToken(),
      }
      const bootstrapExpiresMs = isBootstrapExpired ? Date.now() - dayMs : Date.now() + 30 * dayMs
      return generations.push({tokens, jwtSecret: randomBytes(32).toString('base64url'), bootstrapExpiresMs}) - 1
    },
    environmentFile(generation) {
      const {tokens, jwtSecret, bootstrapExpiresMs} = of(generation)
      const lines = Object.entries(tokenVariables).map(([role, name]) => `${name}=${tokens[role as Role]}`)
      return [
        ...lines,
        `SVC_MESH_JWT_HMAC_SECRET=${jwtSecret}`,
        `SVC_MESH_BOOTSTRAP_EXPIRES_UNIX_MS=${bootstrapExpiresMs}`,
        '',
      ].join('\n')
    },
    programFile(generation) {
      const {tokens} = of(generation)
      return `${tokenVariables.worker}=${tokens.worker}\n${tokenVariables.submitter}=${tokens.submitter}\n`
    },
    credentialOf(token) {
      if (token === undefined) return {role: 'none', generation: 0}
      for (const [generation, {tokens}] of generations.entries())
        for (const [role, text] of Object.entries(tokens)) if (text === token) return {role: role as Role, generation}
      return {role: 'garbage', generation: 0}
    },
    textOf({role, generation, signed}, node, nowMs) {
      if (role === 'none') return undefined
      if (role === 'garbage') return randomToken()
      const {tokens, jwtSecret} = of(generation)
      if (signed === undefined) return tokens[role]
      const iat = Math.floor(nowMs / 1000)
      return sign(jwtSecret, {
        role,
        jti: signed.id,
        aud: 'svc-mesh',
        scp: signed.isForeign ? `${scope}-other` : scope,
        iat,
        exp: iat + tokenLifeSec,
        ...(node === undefined ? {} : {sub: node}),
      })
    },
    secrets: () =>
      new Map([
        ...generations.flatMap(({tokens, jwtSecret}, at) => [
          ...Object.entries(tokens).map(([role, text]) => [`${role}-${at}`, text] as const),
          [`jwt-secret-${at}`, jwtSecret] as const,
        ]),
        // All signed tokens start with the same header, including those issued by the server.
        ['signed', header] as const,
      ]),
  }
}

/** Creates a token in JWS compact serialization, HS256 (RFC 7515). */
function sign(secret: string, claims: object): string {
  const body = `${header}.${part(claims)}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
