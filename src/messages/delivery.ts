/** A message that has been delivered so often without being acknowledged is not delivered again. */
export const maxDeliveries = 10

/** How long a message is its claimer's alone, ms. */
export const messageClaimMs = 120_000

/** Whether nobody has a message, in SQL: its claim has ended, or is of a time that lies ahead. */
export const isFree = '(claim_until_ms IS NULL OR claim_until_ms <= @now OR claim_until_ms > @latest)'

/** A message is unread, in SQL. The indexes of inboxes are made for these words. */
export const isUnread = 'acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NULL'

/**
 * Where a claim of now ends, and the latest end that is believed: one beyond it was made before the clock was set back,
 * by more than a clock that is kept in step ever goes.
 */
export const claimTimes = (now: number) => ({
  now,
  until: now + messageClaimMs,
  latest: now + 2 * messageClaimMs,
})
