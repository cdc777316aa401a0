/** Maximum number of deliveries of a message without acknowledgement. */
export const maxDeliveries = 10

/** Duration of a claim on a message, ms. */
export const messageClaimMs = 120_000

/** SQL condition: the message is not claimed, because the claim has expired or ends impossibly late. */
export const isFree = '(claim_until_ms IS NULL OR claim_until_ms <= @now OR claim_until_ms > @latest)'

/** SQL condition: the message is unread. The partial indexes of inboxes use the same condition. */
export const isUnread = 'acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NULL'

/**
 * The end of a new claim, and the latest plausible end: a later one was written before the clock was set back by more
 * than a synchronised clock ever is.
 */
export const claimTimes = (now: number) => ({
  now,
  until: now + messageClaimMs,
  latest: now + 2 * messageClaimMs,
})
