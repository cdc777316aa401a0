import {SvcError} from '../../../errors/index.js'
import type {Role} from '../../protocol/roles.js'

/** By which a token is known again. */
export interface TokenId {
  id: string
  /** Until when it has to be, Unix ms. */
  keepUntilMs: number
}

/** Who a request comes from. */
export interface Caller {
  role: Role
  /** The only node that it may speak for, where its token is bound to one. */
  node?: string
  /** The scope that its token is bound to; it is that of the control plane. */
  scope?: string
  /**
   * For limits and the audit, never a token: `worker/node-7f3a` where the token names its node, else with the address,
   * `worker@10.0.0.7`, since a token of a role is shared by many.
   */
  id: string
  /** Its token is good for one request: the id by which it is known again, to be used up before the request is served. */
  once?: TokenId
  /** SHA-256 of the token for new nodes that it showed, hexadecimal. */
  bootstrap?: string
}

/**
 * A token that is bound to a node is good for that node alone; one of a role, which all share, for any.
 * @throws node_identity_mismatch
 */
export function requireNode(caller: Caller, node: string): void {
  if (caller.node !== undefined && caller.node !== node) throw new SvcError('node_identity_mismatch', {node})
}
