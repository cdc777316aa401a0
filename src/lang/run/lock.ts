/** A first-in, first-out mutex; acquired synchronously if it is free. */
export class Lock {
  #held = false
  readonly #waiting: (() => void)[] = []

  get held(): boolean {
    return this.#held
  }

  async acquire(): Promise<void> {
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#held = true
  }

  release(): void {
    const next = this.#waiting.shift()
    // Passed directly to the next waiter, so that no new caller can acquire it first.
    if (next === undefined) this.#held = false
    else next()
  }
}
