/** Values by key, of which the least recently used are dropped if all together are too large. The newest is always kept. */
export class LruCache<T> {
  readonly #maxSize: number
  readonly #entries = new Map<string, {value: T; size: number}>()
  #size = 0

  /** @param most maximum size of all values */
  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Stores a value, or updates the size of the one with the key. */
  set(key: string, value: T, size: number): void {
    this.#drop(key)
    this.#entries.set(key, {value, size})
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize || oldest === key) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
