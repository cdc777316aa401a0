import {SvcError} from '../../../errors/index.js'
import type {MeshStore, Scope} from '../../store/mesh-store.js'
import type {Caller} from './caller.js'
import type {Credentials, GrantableTokens} from './credentials.js'

/** Role granted to new nodes. */
export type BootstrapGrants = 'worker' | 'mesh'

export interface BootstrapRequest {
  /** Optional copy of the token in the header; must be equal. */
  bootstrapToken?: string | undefined
}

export interface BootstrapAnswer {
  /** Token of `role`. */
  mesh_token: string
  /** Token for delivering results. */
  submitter_token?: string
  role: BootstrapGrants
  scope_id: string | null
}

export interface BootstrapContext {
  store: Pick<MeshStore, 'now' | 'useBootstrap'>
  /** System clock, which decides the expiry of the token, Unix ms; default `Date.now`. */
  wallClock?: (() => number) | undefined
  scope: Scope
  /** Default: `worker`. */
  grants?: BootstrapGrants | undefined
}

/**
 * Exchanges the bootstrap token for permanent tokens, once. Only opaque tokens are granted, because a signed token
 * would expire within an hour. The granted tokens are looked up before the bootstrap token is consumed, so that a
 * server error does not waste it.
 * @param caller caller identified by the bootstrap token
 * @throws bootstrap_disabled, bootstrap_invalid, bootstrap_expired, bootstrap_consumed, server_token_missing
 */
export async function exchangeBootstrap(
  credentials: Credentials,
  caller: Caller,
  {bootstrapToken}: BootstrapRequest,
  {store, wallClock = Date.now, scope, grants = 'worker'}: BootstrapContext,
): Promise<BootstrapAnswer> {
  const {bootstrap} = credentials
  if (bootstrap === undefined) throw new SvcError('bootstrap_disabled', {})
  // If the secrets were reloaded since the caller was identified, its old token must not consume the new one.
  if (caller.bootstrap !== bootstrap.digest) throw new SvcError('bootstrap_invalid', {})
  if (bootstrapToken !== undefined && !credentials.isBootstrap(bootstrapToken))
    throw new SvcError('bootstrap_invalid', {})
  const {digest, expiresMs} = bootstrap
  const now = wallClock()
  if (now >= expiresMs) throw new SvcError('bootstrap_expired', {})
  const tokens = tokensFor[grants](credentials.grantableTokens())
  if (tokens === undefined) throw new SvcError('server_token_missing', {})
  // The consumption must be stored until the token has expired, even if the store's clock is ahead.
  const keepUntilMs = Math.min(expiresMs + Math.max(0, store.now() - now), Number.MAX_SAFE_INTEGER)
  await store.useBootstrap(scope, digest, {expiresMs: keepUntilMs, by: caller.id})
  return {...tokens, role: grants, scope_id: scope === '' ? null : scope}
}

type GrantedTokens = Pick<BootstrapAnswer, 'mesh_token' | 'submitter_token'>

const tokensFor: Readonly<Record<BootstrapGrants, (tokens: GrantableTokens) => GrantedTokens | undefined>> = {
  mesh: ({mesh}) => (mesh === undefined ? undefined : {mesh_token: mesh}),
  worker: ({worker, submitter}) =>
    worker === undefined
      ? undefined
      : {mesh_token: worker, ...(submitter === undefined ? {} : {submitter_token: submitter})},
}
