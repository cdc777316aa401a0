import {readMaintenance, readPromotion, readQuarantine} from '../protocol/admin-body.js'
import {type AuditPage, maxAuditEntries} from '../protocol/audit.js'
import {readRevoke} from '../protocol/lease-body.js'
import {readPageQuery} from '../protocol/page-query.js'
import type {Handlers} from './route.js'

/** Quarantine, maintenance, revocation of leases, failover of the database, and the audit log. */
export const adminRoutes: Handlers = {
  async admin_quarantine({body, caller}, {store, scope, waiters}) {
    const {node_id, quarantined} = readQuarantine(body)
    await store.setQuarantine(scope, node_id, quarantined, caller.id)
    waiters.notifyAll()
    return undefined
  },

  async admin_maintenance({body, caller}, {store, scope, waiters}) {
    const {
      node_id,
      maintenance: on,
      maintenance_until_unix_ms: untilMs,
      maintenance_for_ms: forMs,
    } = readMaintenance(body)
    await store.setMaintenance(scope, node_id, {on, untilMs, forMs}, caller.id)
    waiters.notifyAll()
    return undefined
  },

  async admin_exec_lease_revoke({body, caller}, {store, scope}) {
    await store.revokeLease(scope, readRevoke(body).lease_id, caller.id)
    return undefined
  },

  async admin_store_promote({body, caller}, {store, scope}) {
    return JSON.stringify(await store.promote(scope, readPromotion(body).skip_tokens, caller.id))
  },

  async admin_audit_list({query}, {store, scope}) {
    const {rows: entries, next} = await store.listAudit(scope, readPageQuery(query, maxAuditEntries))
    const page: AuditPage = {entries, ...(next === undefined ? {} : {next_cursor: String(next)})}
    return JSON.stringify(page)
  },
}
