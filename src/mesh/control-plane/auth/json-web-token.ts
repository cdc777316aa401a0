import type {KeyObject} from 'node:crypto'
import type {JWTPayload} from 'jose'
import {SvcError} from '../../../errors/index.js'
import {
  maxTokenLifeSec,
  type TokenRole,
  tokenAlgorithm,
  tokenAudience,
  tokenRoles,
} from '../../protocol/signed-token.js'
import type {MeshStore, Scope} from '../../store/mesh-store.js'
import type {Caller, TokenId} from './caller.js'

export interface TokenContext {
  key: KeyObject
  store: Pick<MeshStore, 'now'>
  /** System clock, Unix ms, because issuers use theirs. */
  wallClock: () => number
  scope: Scope
  remoteAddress: string
}

/** Tolerated clock difference of the issuer, s. */
const leewaySec = 30

/** Maximum length of a name or id in a token, characters. */
const maxNameLength = 256

/** Roles whose signed tokens are single-use. */
const singleUse: ReadonlySet<TokenRole> = new Set(['mesh', 'admin'])

/** Matches a compact JWS: three non-empty parts. */
export const looksSigned = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

/**
 * Identifies the sender of a signed token (JWT, only HS256). Does not consume a single-use token, so that a request
 * that is refused for another reason can be repeated with it.
 * @throws unauthorized, token_expired, scope_mismatch
 */
export async function callerOfToken(token: string, context: TokenContext): Promise<Caller> {
  const {remoteAddress, store, wallClock} = context
  const claims = await verify(token, context)
  const role = roleOf(claims)
  const node = nameIn(claims.sub)
  const scope = nameIn(claims.scp)
  if (scope !== undefined && scope !== context.scope) throw new SvcError('scope_mismatch', {})
  return {
    role,
    ...(node === undefined ? {} : {node}),
    ...(scope === undefined ? {} : {scope}),
    ...(singleUse.has(role) ? {once: idOf(claims, store.now() - wallClock())} : {}),
    id: node === undefined ? `${role}@${remoteAddress}` : `${role}/${node}`,
  }
}

type Claims = JWTPayload & {iat: number; exp: number}

async function verify(token: string, {key, wallClock}: TokenContext): Promise<Claims> {
  const {jwtVerify, errors} = await import('jose')
  const now = wallClock()
  const options = {
    algorithms: [tokenAlgorithm],
    audience: tokenAudience,
    clockTolerance: leewaySec,
    currentDate: new Date(now),
    requiredClaims: ['iat', 'exp'],
  }
  // Do not set a cause: causes are logged and may contain parts of the token.
  const claims = await jwtVerify(token, key, options).then(
    ({payload}) => payload as Claims,
    (error: unknown) => {
      const isLate = error instanceof errors.JWTExpired
      const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf'
      throw new SvcError(isLate || isEarly ? 'token_expired' : 'unauthorized', {})
    },
  )
  if (claims.iat > Math.floor(now / 1000) + leewaySec) throw new SvcError('token_expired', {})
  if (claims.exp - claims.iat > maxTokenLifeSec) throw new SvcError('unauthorized', {})
  return claims
}

function roleOf({role}: Claims): TokenRole {
  const word = typeof role === 'string' ? role.trim().toLowerCase() : ''
  const known = tokenRoles.find((one) => one === word)
  if (known === undefined) throw new SvcError('unauthorized', {})
  return known
}

/** Reads an optional string claim. @throws unauthorized if it is invalid */
function nameIn(claim: unknown): string | undefined {
  if (claim === undefined) return undefined
  const name = typeof claim === 'string' ? claim.trim() : ''
  if (name === '' || name.length > maxNameLength) throw new SvcError('unauthorized', {})
  return name
}

/**
 * The use of an id is remembered for the validity of the token plus twice the leeway. A request verified at the last
 * moment may still wait for the store.
 * @param aheadMs lead of the store's clock, which decides when the id is deleted, over the system clock
 */
function idOf({jti, exp}: Claims, aheadMs: number): TokenId {
  const id = nameIn(jti)
  if (id === undefined) throw new SvcError('unauthorized', {})
  return {id, keepUntilMs: (Math.ceil(exp) + 2 * leewaySec) * 1000 + aheadMs}
}

/** Consumes a single-use token. Must be the last check. @throws token_replayed, overloaded */
export async function useUp({id, keepUntilMs}: TokenId, store: Pick<MeshStore, 'useTokenId'>): Promise<void> {
  if (!(await store.useTokenId(id, keepUntilMs))) throw new SvcError('token_replayed', {})
}
