import {SvcError} from '../../../errors/index.js'
import {bearerToken, type Rate, type RateLimit} from '../../../net/index.js'
import {mayUse, type Plane} from '../../protocol/roles.js'
import type {MeshStore, Scope} from '../../store/mesh-store.js'
import type {Caller} from './caller.js'
import type {Credentials} from './credentials.js'
import {callerOfToken, looksSigned} from './json-web-token.js'

/** Wrong tokens for new nodes of one address: ten at once, and ten a minute. */
export const wrongBootstrapTokens: Rate = {perSecond: 10 / 60, burst: 10}

export interface IdentifyContext {
  /** The part of the control plane that the request is for. */
  plane: Plane
  store: Pick<MeshStore, 'now'>
  /** The clock of the machine, which tokens go by, Unix ms; `Date.now` where it is left out. */
  wallClock?: (() => number) | undefined
  /** Of the control plane; empty where it has none. */
  scope: Scope
  /** Counts the wrong tokens for new nodes by address, at the rate of `wrongBootstrapTokens`. */
  wrongTokens?: RateLimit | undefined
}

/**
 * Who sends a request, and whether they may: by the `Authorization` header alone. Opaque tokens are recognised at once,
 * without a promise, since every heartbeat carries one; tokens of their own words take one.
 *
 * The token for new nodes is good for its exchange and for nothing else, and no other is good for that. Nothing is used
 * up here: a caller of `once` has that before it.
 * @param connection the same object for all requests of a connection, whose token is recognised sooner the second time
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
  // Whoever guesses from the same address does not keep out who has the right one.
  if (token !== undefined && credentials.isBootstrap(token))
    return {role: 'bootstrap', id: `bootstrap@${remoteAddress}`, bootstrap: bootstrap.digest}
  if (wrongTokens !== undefined && wrongTokens.take(remoteAddress, store.now()) > 0)
    throw new SvcError('rate_limited', {limit: wrongBootstrapTokens.burst, within: 'minute'})
  throw new SvcError('bootstrap_invalid', {})
}
