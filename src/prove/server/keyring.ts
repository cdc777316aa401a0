import {createHmac, randomBytes} from 'node:crypto'
import {type Role, tokenVariables} from '../../mesh/index.js'
import type {Shown} from '../history/history.js'

/** The secrets of a server between two rotations. */
export interface Generation {
  tokens: Readonly<Record<Role, string>>
  jwtSecret: string
  /** When its token for new nodes ends, Unix ms. */
  bootstrapExpiresMs: number
}

const dayMs = 86_400_000
/** How long a signed token holds, s. */
const tokenLifeSec = 60

export interface Keyring {
  /** The generation that clients show. */
  current: number
  /** Makes the next one; it is shown from when `current` says so. */
  add(options?: {isBootstrapExpired?: boolean}): number
  /** What a server reads, as the lines of its secrets file. */
  environmentFile(generation: number): string
  /** The text behind what a client shows; undefined where it shows nothing. */
  textOf(shown: Shown, node: string | undefined, nowMs: number): string | undefined
  /** Every secret there has been, by a name that may be written down. */
  secrets(): Map<string, string>
}

/** Written as jose writes it. */
const header = part({alg: 'HS256', typ: 'JWT'})

/** The tokens of a run, which are new in each, and never written into its log. */
export function createKeyring(scope: string): Keyring {
  const generations: Generation[] = []
  const fresh = () => randomBytes(24).toString('base64url')

  const of = (generation: number): Generation => {
    const found = generations[generation]
    if (found === undefined) throw new RangeError(`There is no generation ${generation} of tokens.`)
    return found
  }

  return {
    current: 0,
    add({isBootstrapExpired = false} = {}) {
      const tokens = {mesh: fresh(), admin: fresh(), worker: fresh(), submitter: fresh(), bootstrap: fresh()}
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
    textOf({role, generation, signed}, node, nowMs) {
      if (role === 'none') return undefined
      if (role === 'garbage') return fresh()
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
        // All signed tokens begin alike, those of the server too.
        ['signed', header] as const,
      ]),
  }
}

/** A token in the compact form of JWS, HS256 (RFC 7515). */
function sign(secret: string, claims: object): string {
  const body = `${header}.${part(claims)}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
