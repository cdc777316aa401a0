import type {Call, Reply} from './call.js'

/** Maximum total size of the cached pages, bytes. */
const maxBytes = 16 << 20

interface CachedPage {
  etag: string
  reply: Reply
  /** Monotonic time of the response, ms. */
  atMs: number
}

/** Caches pages of the node list, which the control plane does not send again if they have not changed. */
export class NodePages {
  /** By query, oldest first. */
  readonly #pages = new Map<string, CachedPage>()
  #bytes = 0

  /** @returns the page, with the time since its own response, ms: zero for a new page */
  async get(
    query: Call['query'],
    ask: (headers: Readonly<Record<string, string>>) => Promise<Reply>,
  ): Promise<{page: Reply; ageMs: number}> {
    const key = JSON.stringify(query)
    const known = this.#pages.get(key)
    const reply = await ask({'accept-encoding': 'gzip', ...(known && {'if-none-match': known.etag})})
    const atMs = performance.now()
    if (known !== undefined && reply.status === 304) return {page: known.reply, ageMs: Math.floor(atMs - known.atMs)}
    this.#remove(key)
    const {etag} = reply.headers
    if (etag !== undefined) {
      this.#pages.set(key, {etag, reply, atMs})
      this.#bytes += reply.bytes.length
    }
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= maxBytes) break
      this.#remove(oldest)
    }
    return {page: reply, ageMs: 0}
  }

  #remove(key: string): void {
    this.#bytes -= this.#pages.get(key)?.reply.bytes.length ?? 0
    this.#pages.delete(key)
  }
}
