import {SvcError} from '../../../errors/index.js'
import type {MeshStore, Scope} from '../../store/mesh-store.js'
import type {Caller} from './caller.js'
import type {Credentials, HandedOut} from './credentials.js'

/** Which role a new node gets. */
export type BootstrapGrants = 'worker' | 'mesh'

/** What the body of the exchange may say. */
export interface BootstrapRequest {
  /** The token once more; the same as that of the header. */
  bootstrapToken?: string | undefined
}

export interface BootstrapAnswer {
  /** Token of `role`. */
  mesh_token: string
  /** With it the node delivers what it has worked out. */
  submitter_token?: string
  role: BootstrapGrants
  scope_id: string | null
}

export interface BootstrapContext {
  store: Pick<MeshStore, 'now' | 'useBootstrap'>
  /** The clock of the machine, which the token ends by, Unix ms; `Date.now` where it is left out. */
  wallClock?: (() => number) | undefined
  scope: Scope
  /** `worker` when left out. */
  grants?: BootstrapGrants | undefined
}

/**
 * Exchanges the token for new nodes for one that can be kept, once. Only opaque tokens are given: one that is made from a
 * key would end within the hour, and shut its node out. What a node is given is at hand before the token is used up, so
 * that a fault of the server costs nobody their token.
 * @param caller as `identify` recognised it by that token
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
  // The secrets may have been replaced since the caller was recognised: its token must not use up a newer one.
  if (caller.bootstrap !== bootstrap.digest) throw new SvcError('bootstrap_invalid', {})
  if (bootstrapToken !== undefined && !credentials.isBootstrap(bootstrapToken))
    throw new SvcError('bootstrap_invalid', {})
  const {digest, expiresMs} = bootstrap
  const now = wallClock()
  if (now >= expiresMs) throw new SvcError('bootstrap_expired', {})
  const given = tokensFor[grants](credentials.handOut())
  if (given === undefined) throw new SvcError('server_token_missing', {})
  // It is not to be forgotten before it has ended, although the clock of the store may be ahead.
  const keepUntilMs = Math.min(expiresMs + Math.max(0, store.now() - now), Number.MAX_SAFE_INTEGER)
  await store.useBootstrap(scope, digest, {expiresMs: keepUntilMs, by: caller.id})
  return {...given, role: grants, scope_id: scope === '' ? null : scope}
}

type Given = Pick<BootstrapAnswer, 'mesh_token' | 'submitter_token'>

const tokensFor: Readonly<Record<BootstrapGrants, (texts: HandedOut) => Given | undefined>> = {
  mesh: ({mesh}) => (mesh === undefined ? undefined : {mesh_token: mesh}),
  worker: ({worker, submitter}) =>
    worker === undefined
      ? undefined
      : {mesh_token: worker, ...(submitter === undefined ? {} : {submitter_token: submitter})},
}
