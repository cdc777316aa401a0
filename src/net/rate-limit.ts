/** Permitted request rate of a caller. */
export interface Rate {
  perSecond: number
  /** Capacity of the bucket. */
  burst: number
}

export interface RateLimit {
  /**
   * Takes a token from the bucket of a caller.
   * @param nowMs monotonic time
   * @returns 0, or the time until a token is available if none was taken, ms
   */
  take(id: string, nowMs: number): number
  /** Like `take`, but does not take a token. */
  wait(id: string, nowMs: number): number
}

const maxBuckets = 10_000

interface Bucket {
  tokens: number
  atMs: number
}

/**
 * Creates a rate limit with a token bucket per caller. If there are too many callers, the one that has been silent
 * longest is forgotten, because its bucket is the fullest.
 */
export function createRateLimit({perSecond, burst}: Rate): RateLimit {
  // Maps keep insertion order, so the first key is the caller that has been silent longest.
  const buckets = new Map<string, Bucket>()

  function fill(id: string, nowMs: number): number {
    const bucket = buckets.get(id)
    if (bucket === undefined) return burst
    const seconds = Math.max(0, nowMs - bucket.atMs) / 1000
    return Math.min(burst, bucket.tokens + seconds * perSecond)
  }

  const untilOne = (tokens: number) => (tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / perSecond) * 1000))

  return {
    wait: (id, nowMs) => untilOne(fill(id, nowMs)),
    take(id, nowMs) {
      const tokens = fill(id, nowMs)
      const ms = untilOne(tokens)
      buckets.delete(id)
      buckets.set(id, {tokens: ms === 0 ? tokens - 1 : tokens, atMs: nowMs})
      if (buckets.size > maxBuckets) forgetOldest(buckets)
      return ms
    },
  }
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  const {value: oldest} = buckets.keys().next()
  if (oldest !== undefined) buckets.delete(oldest)
}
