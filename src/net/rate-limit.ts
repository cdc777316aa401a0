/** How many requests a caller may send. */
export interface Rate {
  perSecond: number
  /** How many at once. */
  burst: number
}

export interface RateLimit {
  /**
   * Takes one from the bucket of a caller.
   * @param nowMs of a clock that only goes forward
   * @returns 0, or ms to wait where nothing was taken
   */
  take(id: string, nowMs: number): number
  /** The same without taking one. */
  wait(id: string, nowMs: number): number
}

const mostBuckets = 10_000

interface Bucket {
  tokens: number
  atMs: number
}

/**
 * A token bucket for each caller. Of more callers than can be remembered the one that was silent for longest is
 * forgotten: its bucket is the fullest.
 */
export function createRateLimit({perSecond, burst}: Rate): RateLimit {
  // A map lists its keys in the order of their coming, so the first is the one that was silent for longest.
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
      if (buckets.size > mostBuckets) forgetOldest(buckets)
      return ms
    },
  }
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  const {value: oldest} = buckets.keys().next()
  if (oldest !== undefined) buckets.delete(oldest)
}
