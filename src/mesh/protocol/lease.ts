/**
 * Lease on a key, held by one node at a time. Its id is a fencing token: it increases with every change of holder and
 * is never reused, so that writes of a former holder can be rejected.
 */
export interface ExecLease {
  /** Decimal digits. */
  lease_id: string
  /** The same as a number. */
  fence_token: number
  /** Leased key, such as `task:UUID`. */
  scope_key: string
  holder_node_id: string
  /** On the store's clock. */
  expires_unix_ms: number
}

/** Maximum number of listed leases. */
export const maxLeasesListed = 5000

export interface LeaseList {
  leases: ExecLease[]
  /** Set if there are more leases than listed. */
  truncated?: true
}

/** Number of fencing tokens that a promotion skips: more than a standby can be behind, and far less than there are. */
export const minSkippedTokens = 1_000_000
export const maxSkippedTokens = 1_000_000_000

export interface Promotion {
  /** Last skipped fencing token; all later ones are higher. */
  fence_token: number
}

export interface LeaseVerification {
  valid: true
  holder_node_id: string
  expires_unix_ms: number
  server_time_unix_ms: number
}

/** Maximum length of a lease key, bytes of UTF-8. */
export const maxScopeKeyBytes = 2048
