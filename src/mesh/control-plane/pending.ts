import type {MeshStore, Scope} from '../store/mesh-store.js'

interface Count {
  atMs: number
  value: Promise<number>
}

const maxCounts = 10_000

/** Maximum age of a cached count, ms. Many heartbeats arrive in this time, and no client reacts faster. */
const freshMs = 100

/** Cached counts of pending messages per receiver and in total. */
export class PendingCounts {
  readonly #store: Pick<MeshStore, 'countPending'>
  readonly #counts = new Map<string, Count>()

  constructor(store: Pick<MeshStore, 'countPending'>) {
    this.#store = store
  }

  /** @param limit maximum result */
  count(scope: Scope, receiver: string | undefined, limit: number): Promise<number> {
    const key = `${limit}\n${receiver ?? ''}\n${scope}`
    const nowMs = performance.now()
    const known = this.#counts.get(key)
    if (known !== undefined && nowMs - known.atMs < freshMs) return known.value
    const value = this.#store.countPending(scope, {receiver, limit})
    if (this.#counts.size >= maxCounts) this.#counts.clear()
    this.#counts.set(key, {atMs: nowMs, value})
    // Do not cache failures.
    value.catch(() => this.#counts.delete(key))
    return value
  }
}
