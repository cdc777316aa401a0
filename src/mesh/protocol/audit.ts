/** Action of an administrator, a node or the store, recorded in the audit log. */
export interface AuditEntry {
  /** Increases with every entry. */
  id: number
  /** Time of the action; for a granted lease, of its last renewal. */
  at_unix_ms: number
  /** Node, administrator or `store`. */
  actor: string
  /** Such as `lease.granted`, `node.quarantine`, `message.dead` or `store.promoted`. */
  action: string
  /** Key of the lease, node or message, or `fence`. */
  target: string
  detail: Readonly<Record<string, unknown>>
}

/** Default and maximum number of entries per page. */
export const maxAuditEntries = 1000

/** Page of the audit log, newest entry first. */
export interface AuditPage {
  entries: AuditEntry[]
  /** Start of the next page, if there is one. */
  next_cursor?: string
}
