/**
 * A lease on a key, held by one node at a time. Its id is its fencing token: it grows with every change of holder and is
 * never given out twice, so that work of an older holder can be distinguished from that of a newer one.
 */
export interface ExecLease {
  /** Decimal digits. */
  lease_id: string
  /** The same as a number. */
  fence_token: number
  /** What is leased: `task:UUID`. */
  scope_key: string
  holder_node_id: string
  /** Of the clock of the store. */
  expires_unix_ms: number
}

/** Most leases that are listed, those of the first holders. */
export const mostLeasesListed = 5000

export interface LeaseList {
  leases: ExecLease[]
  /** There are more than are listed. */
  truncated?: true
}

/** Answer to whether a lease still holds. */
export interface LeaseVerification {
  valid: true
  holder_node_id: string
  expires_unix_ms: number
  server_time_unix_ms: number
}

/** Longest key of a lease, bytes of UTF-8. */
export const longestScopeKey = 2048
