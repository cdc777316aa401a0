/** Lets one at a time through, in the order of their coming; at once where nobody is inside. */
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
    // Handed over, never free in between: nobody slips in before the one who waits.
    if (next === undefined) this.#held = false
    else next()
  }
}
