import {SvcError} from '../../../errors/index.js'
import {bearerToken, type Rate, type RateLimit} from '../../../net/index.js'
import {mayUse, type Plane} from '../../protocol/roles.js'
import type {MeshStore, Scope} from '../../store/mesh-store.js'
import type {Caller} from './caller.js'
import type {Credentials} from './credentials.js'
import {callerOfToken, looksSigned} from './json-web-token.js'

/** Limit of wrong bootstrap tokens per address: a burst of 10, and 10 per minute. */
export const wrongBootstrapTokens: Rate = {perSecond: 10 / 60, burst: 10}

export interface IdentifyContext {
  /** Plane of the requested route. */
  plane: Plane
  store: Pick<MeshStore, 'now'>
  /** System clock, which decides the validity of tokens, Unix ms; default `Date.now`. */
  wallClock?: (() => number) | undefined
  /** Scope of the control plane; empty if it has none. */
  scope: Scope
  /** Limits wrong bootstrap tokens per address, at the rate `wrongBootstrapTokens`. */
  wrongTokens?: RateLimit | undefined
}

/**
 * Authenticates and authorises a request by its `Authorization` header. Opaque tokens are identified synchronously,
 * because every heartbeat contains one; signed tokens return a promise.
 *
 * The bootstrap token is only valid for its exchange, which accepts no other token. Single-use tokens are not consumed
 * here; see `Caller.once`.
 * @param connection object that identifies the connection, to cache its last token
 * @throws unauthorized, token_expired, scope_mismatch, role_forbidden; for the exchange bootstrap_disabled,
 *   bootstrap_invalid, rate_limited
 */
export function identify(
  credentials: Credentials,
  authorization: string | undefined,
  remoteAddress: string,
  context: IdentifyContext,
  connection?: object,
): Caller | Promise<Caller> {
  if (context.plane === 'bootstrap') return newNode(credentials, authorization, remoteAddress, context)
  if (credentials.isOpen) return {role: 'mesh', id: `open@${remoteAddress}`}
  const token = bearerToken(authorization)
  if (token === undefined) throw new SvcError('unauthorized', {})
  const role = credentials.roleOf(token, connection)
  if (role !== undefined) return allowed({role, id: `${role}@${remoteAddress}`}, context.plane)
  const {jwtKey: key} = credentials
  if (key === undefined || !looksSigned(token)) throw new SvcError('unauthorized', {})
  const {store, wallClock = Date.now, scope, plane} = context
  return callerOfToken(token, {key, store, wallClock, scope, remoteAddress}).then((caller) => allowed(caller, plane))
}

/** @throws role_forbidden */
function allowed(caller: Caller, plane: Plane): Caller {
  if (!mayUse[plane].includes(caller.role)) throw new SvcError('role_forbidden', {role: caller.role})
  return caller
}

function newNode(
  credentials: Credentials,
  authorization: string | undefined,
  remoteAddress: string,
  {store, wrongTokens}: IdentifyContext,
): Caller {
  const {bootstrap} = credentials
  if (bootstrap === undefined) throw new SvcError('bootstrap_disabled', {})
  const token = bearerToken(authorization)
  // The valid token is checked first, so that guesses from the same address cannot block it.
  if (token !== undefined && credentials.isBootstrap(token))
    return {role: 'bootstrap', id: `bootstrap@${remoteAddress}`, bootstrap: bootstrap.digest}
  if (wrongTokens !== undefined && wrongTokens.take(remoteAddress, store.now()) > 0)
    throw new SvcError('rate_limited', {limit: wrongBootstrapTokens.burst, within: 'minute'})
  throw new SvcError('bootstrap_invalid', {})
}
