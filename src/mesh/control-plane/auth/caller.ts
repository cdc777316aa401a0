import {SvcError} from '../../../errors/index.js'
import type {Role} from '../../protocol/roles.js'

/** Identifier of a single-use token. */
export interface TokenId {
  id: string
  /** Time until which its use must be remembered, Unix ms. */
  keepUntilMs: number
}

/** Authenticated sender of a request. */
export interface Caller {
  role: Role
  /** Node to which its token is bound, if any. */
  node?: string
  /** Scope to which its token is bound, always that of the control plane. */
  scope?: string
  /**
   * Identity for rate limits and the audit log: `worker/node-7f3a` if the token is bound to a node, otherwise with the
   * address, `worker@10.0.0.7`, because role tokens are shared. Never contains a token.
   */
  id: string
  /** Set for a single-use token, which must be consumed before the request is processed. */
  once?: TokenId
  /** SHA-256 of the presented bootstrap token, hexadecimal. */
  bootstrap?: string
}

/**
 * Refuses a token that is bound to another node. Shared role tokens are valid for every node.
 * @throws node_identity_mismatch
 */
export function requireNode(caller: Caller, node: string): void {
  if (caller.node !== undefined && caller.node !== node) throw new SvcError('node_identity_mismatch', {node})
}
