import type {MeshStore, Scope} from '../store/mesh-store.js'

interface Count {
  atMs: number
  value: Promise<number>
}

const maxCounts = 10_000

/** How old a count may be, ms: many heartbeats come in that time, and nobody acts on one sooner. */
const freshMs = 100

/** How many messages wait for a receiver, or for anybody; each is counted ten times a second at most. */
export class PendingCounts {
  readonly #store: Pick<MeshStore, 'countPending'>
  readonly #counts = new Map<string, Count>()

  constructor(store: Pick<MeshStore, 'countPending'>) {
    this.#store = store
  }

  /** @param limit counts no further */
  count(scope: Scope, receiver: string | undefined, limit: number): Promise<number> {
    const key = `${limit}\n${receiver ?? ''}\n${scope}`
    const nowMs = performance.now()
    const known = this.#counts.get(key)
    if (known !== undefined && nowMs - known.atMs < freshMs) return known.value
    const value = this.#store.countPending(scope, {receiver, limit})
    if (this.#counts.size >= maxCounts) this.#counts.clear()
    this.#counts.set(key, {atMs: nowMs, value})
    // A failure goes to those who asked, and to nobody after them.
    value.catch(() => this.#counts.delete(key))
    return value
  }
}
