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

/** What the token of a request is held against. */
export interface TokenContext {
  key: KeyObject
  store: Pick<MeshStore, 'now'>
  /** The clock of the machine, Unix ms: those who make tokens go by theirs. */
  wallClock: () => number
  scope: Scope
  remoteAddress: string
}

/** How far the clock of the machine that made a token may be off, s. */
const leewaySec = 30

/** Characters that a name or an id in a token may have. */
const longestName = 256

/** Roles whose tokens are good for one request. */
const singleUse: ReadonlySet<TokenRole> = new Set(['mesh', 'admin'])

/** A compact JWS: three parts, none of them empty. */
export const looksSigned = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

/**
 * Who a token of its own words comes from (JWT, HS256 and nothing else). The id of one that is good for one request is
 * yet to be used up: a request that is refused for another reason can be sent again with the same token.
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
  // Nothing of the token goes on as the cause of an error: causes are logged.
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

/** A claim that names something; undefined where it is left out. */
function nameIn(claim: unknown): string | undefined {
  if (claim === undefined) return undefined
  const name = typeof claim === 'string' ? claim.trim() : ''
  if (name === '' || name.length > longestName) throw new SvcError('unauthorized', {})
  return name
}

/**
 * An id is kept for as long as the token could be shown again, the leeway included, and as long once more: a request that
 * was verified at the last moment may wait for the store until then.
 * @param aheadMs by how much the clock of the store, which forgets it, is ahead of that of the machine
 */
function idOf({jti, exp}: Claims, aheadMs: number): TokenId {
  const id = nameIn(jti)
  if (id === undefined) throw new SvcError('unauthorized', {})
  return {id, keepUntilMs: (Math.ceil(exp) + 2 * leewaySec) * 1000 + aheadMs}
}

/** Comes last, when nothing else stands against the request. @throws token_replayed, overloaded */
export async function useUp({id, keepUntilMs}: TokenId, store: Pick<MeshStore, 'useTokenId'>): Promise<void> {
  if (!(await store.useTokenId(id, keepUntilMs))) throw new SvcError('token_replayed', {})
}
