/** Values by key within a limit of memory; the least recently used are dropped first. */
export class SharedCache<T> {
  readonly #values = new Map<string, T>()
  readonly #most: number
  readonly #bytesOf: (value: T) => number
  #bytes = 0

  /** @param most bytes */
  constructor(most: number, bytesOf: (value: T) => number) {
    this.#most = most
    this.#bytesOf = bytesOf
  }

  /** Approximate memory of the values, bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  add(key: string, value: T): void {
    const before = this.#values.get(key)
    if (before !== undefined) this.#bytes -= this.#bytesOf(before)
    this.#values.delete(key)
    this.#values.set(key, value)
    this.#bytes += this.#bytesOf(value)
    for (const [oldest, each] of this.#values) {
      if (this.#bytes <= this.#most) break
      this.#values.delete(oldest)
      this.#bytes -= this.#bytesOf(each)
    }
  }
}
