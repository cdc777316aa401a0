/** Clients that are remembered at most; older ones start anew. */
const maxClients = 10_000
const minuteMs = 60_000

interface Bucket {
  tokens: number
  atMs: number
}

/** Lets each client send so many requests a minute, all of them at once if it likes: a bucket that fills steadily. */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** @param perMinute 0 for no limit, @param now milliseconds that only go up */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** How many seconds the client has to wait for its request; 0 where it may send it. */
  take(client: string): number {
    if (this.#perMinute === 0) return 0
    const now = this.#now()
    const bucket = this.#buckets.get(client) ?? {tokens: this.#perMinute, atMs: now}
    const tokens = Math.min(this.#perMinute, bucket.tokens + ((now - bucket.atMs) * this.#perMinute) / minuteMs)
    this.#buckets.delete(client)
    this.#buckets.set(client, {tokens: tokens < 1 ? tokens : tokens - 1, atMs: now})
    if (this.#buckets.size > maxClients) this.#buckets.delete(this.#buckets.keys().next().value as string)
    return tokens < 1 ? Math.ceil(((1 - tokens) * minuteMs) / this.#perMinute / 1000) : 0
  }
}
