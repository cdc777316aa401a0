const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Retention after the end of each object, ms. */
export const retention = {
  /** Also the time during which an idempotency key detects repetitions. */
  acknowledged: dayMs,
  dead: 7 * dayMs,
  /** Ended leases, which keep the last fencing token of their key. */
  lease: 7 * dayMs,
  audit: 30 * dayMs,
  /** Nodes without heartbeats; they must join again when they return. */
  node: 30 * dayMs,
}

/** Maximum number of rows deleted per step; fewer messages, because they may be large. */
export const rowsAtOnce = 500
export const messagesAtOnce = 100
/** Size at which a smaller file is counted, bytes: bounds the number of files. */
export const minCountedBytes = 1024
/** Maximum number of expired files deleted to make room for a new one, or per purge. */
export const blobsAtOnce = 8
/** Maximum number of recorded ids of single-use tokens. */
export const maxTokenIds = 50_000
