import {SvcError} from '../../errors/index.js'
import type {MeshOperation} from '../protocol/routes.js'

/**
 * Maximum number of operations waiting for the store before a request is refused, by rank. Requests that keep nodes and
 * leases alive are refused last: otherwise a load peak would cause a loss of leases and then a storm of joins.
 */
const maxWaiting = {first: 2000, middle: 4000, last: 8000, none: Number.POSITIVE_INFINITY} as const

const rankOf: Readonly<Record<MeshOperation, keyof typeof maxWaiting>> = {
  health: 'none',
  metrics: 'none',
  list_nodes: 'first',
  exec_lease_list: 'first',
  a2a_dead_list: 'first',
  admin_audit_list: 'first',
  queue_stats: 'first',
  blob_get: 'first',
  a2a_inbox: 'first',
  join: 'middle',
  bootstrap_exchange: 'middle',
  exec_lease_grant: 'middle',
  exec_lease_verify: 'middle',
  a2a_deliver: 'middle',
  blob_put: 'middle',
  admin_exec_lease_revoke: 'last',
  admin_quarantine: 'last',
  admin_maintenance: 'last',
  admin_store_promote: 'last',
  a2a_dead_retry: 'last',
  a2a_dead_drop: 'last',
  leave: 'last',
  heartbeat: 'last',
  exec_lease_renew: 'last',
  exec_lease_release: 'last',
  a2a_lease_renew: 'last',
  a2a_ack: 'last',
}

/** @throws overloaded if too many operations are waiting */
export function requireRoom(operation: MeshOperation, depth: number): void {
  if (depth > maxWaiting[rankOf[operation]]) throw new SvcError('overloaded', {reason: 'The store is overloaded.'})
}
