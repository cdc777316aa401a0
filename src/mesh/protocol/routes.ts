import type {Plane} from './roles.js'

interface Route {
  method: 'GET' | 'POST' | 'PUT'
  /** May contain a parameter, such as `{sha256}`. */
  path: string
  plane: Plane
  /** Success status; 204 has no body. */
  ok: 200 | 204
  /** Whether a client may repeat a request whose outcome is unknown; `keyed`: only with an idempotency key. */
  repeatable: boolean | 'keyed'
}

const route = (
  method: Route['method'],
  path: string,
  plane: Plane,
  ok: Route['ok'],
  repeatable: Route['repeatable'] = true,
): Route => ({method, path, plane, ok, repeatable})

/**
 * All routes of the control plane by operation name, with their permissions. Server and client both use this table.
 */
export const routes = {
  health: route('GET', '/health', 'open', 200),
  metrics: route('GET', '/metrics', 'worker', 200),
  list_nodes: route('GET', '/v1/mesh/nodes', 'worker', 200),
  join: route('POST', '/v1/mesh/join', 'worker', 200),
  heartbeat: route('POST', '/v1/mesh/heartbeat', 'worker', 200),
  leave: route('POST', '/v1/mesh/leave', 'worker', 204),
  bootstrap_exchange: route('POST', '/v1/mesh/bootstrap/exchange', 'bootstrap', 200, false),
  exec_lease_grant: route('POST', '/v1/mesh/exec/lease/grant', 'worker', 200),
  exec_lease_renew: route('POST', '/v1/mesh/exec/lease/renew', 'worker', 204),
  exec_lease_release: route('POST', '/v1/mesh/exec/lease/release', 'worker', 204),
  exec_lease_verify: route('POST', '/v1/mesh/exec/lease/verify', 'worker', 200),
  exec_lease_list: route('GET', '/v1/mesh/exec/leases', 'admin', 200),
  admin_exec_lease_revoke: route('POST', '/v1/mesh/admin/exec-lease/revoke', 'admin', 204),
  admin_quarantine: route('POST', '/v1/mesh/admin/quarantine', 'admin', 204),
  admin_maintenance: route('POST', '/v1/mesh/admin/maintenance', 'admin', 204),
  admin_store_promote: route('POST', '/v1/mesh/admin/store/promote', 'admin', 200),
  admin_audit_list: route('GET', '/v1/mesh/admin/audit', 'admin', 200),
  a2a_deliver: route('POST', '/v1/mesh/a2a/deliver', 'deliver', 200, 'keyed'),
  a2a_inbox: route('POST', '/v1/mesh/a2a/inbox', 'worker', 200),
  a2a_ack: route('POST', '/v1/mesh/a2a/ack', 'worker', 204),
  a2a_lease_renew: route('POST', '/v1/mesh/a2a/lease-renew', 'worker', 204),
  a2a_dead_list: route('GET', '/v1/mesh/a2a/dead', 'admin', 200),
  a2a_dead_retry: route('POST', '/v1/mesh/a2a/dead/retry', 'admin', 200),
  a2a_dead_drop: route('POST', '/v1/mesh/a2a/dead/drop', 'admin', 200),
  blob_put: route('PUT', '/v1/mesh/blobs/sha256/{sha256}', 'blob', 204),
  blob_get: route('GET', '/v1/mesh/blobs/sha256/{sha256}', 'blob', 200),
  queue_stats: route('GET', '/v1/mesh/queue/stats', 'worker', 200),
} as const satisfies Record<string, Route>

/** Name of an operation, such as `exec_lease_grant`. */
export type MeshOperation = keyof typeof routes
