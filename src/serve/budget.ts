/**
 * What a client may use per minute: a token bucket that may be overdrawn, because the cost of a request is known only at its
 * end. It holds the amount of a minute.
 */
export class Budget {
  readonly perMinute: number
  readonly #now: () => number
  #left: number
  #atMs: number

  /** @param now monotonic time, ms */
  constructor(perMinute: number, now = () => performance.now()) {
    this.perMinute = perMinute
    this.#now = now
    this.#left = perMinute
    this.#atMs = now()
  }

  /** Whole units that are left, at least 0. */
  get remaining(): number {
    return Math.max(0, Math.floor(this.#refill()))
  }

  /** Time until a unit is left, ms; 0 if there is one. */
  get waitMs(): number {
    return this.#msUntil(1)
  }

  /** Time until the budget is complete again, ms. */
  get resetMs(): number {
    return this.#msUntil(this.perMinute)
  }

  charge(units: number): void {
    this.#left = this.#refill() - units
  }

  #msUntil(units: number): number {
    const missing = units - this.#refill()
    return missing <= 0 ? 0 : Math.ceil((missing / this.perMinute) * 60_000)
  }

  #refill(): number {
    const now = this.#now()
    this.#left = Math.min(this.perMinute, this.#left + ((now - this.#atMs) / 60_000) * this.perMinute)
    this.#atMs = now
    return this.#left
  }
}
