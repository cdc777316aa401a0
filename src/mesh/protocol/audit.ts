/** What an administrator, a node or the store itself did, as the audit table records it. */
export interface AuditEntry {
  /** Grows with every entry. */
  id: number
  /** When it happened; of a lease that was granted, its last renewal. */
  at_unix_ms: number
  /** A node, an administrator, or `store`. */
  actor: string
  /** `lease.granted`, `node.quarantine`, `message.dead`. */
  action: string
  /** What it was done to: the key of a lease, a node, a message. */
  target: string
  detail: Readonly<Record<string, unknown>>
}

/** Most entries of a page, which is also what a page has that asks for no length. */
export const mostAuditEntries = 1000

/** A page of the audit, the newest entry first. */
export interface AuditPage {
  entries: AuditEntry[]
  /** Where the next page starts, where there is one. */
  next_cursor?: string
}
