/** Values that are pushed by one side and awaited by the other, in order. Aborting the signal ends the waiting. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #signal: AbortSignal
  readonly #values: T[] = []
  #failure: {error: unknown} | undefined
  #wake: () => void = () => {}
  readonly #onAbort = () => this.fail(this.#signal.reason)

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#onAbort, {once: true})
  }

  push(value: T): void {
    this.#values.push(value)
    this.#wake()
  }

  /** What was pushed before is still given. */
  fail(error: unknown): void {
    this.#failure ??= {error}
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        if (this.#signal.aborted) throw this.#signal.reason
        const value = this.#values.shift()
        if (value !== undefined) yield value
        else if (this.#failure !== undefined) throw this.#failure.error
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
      }
    } finally {
      // The signal may outlive the queue by far.
      this.#signal.removeEventListener('abort', this.#onAbort)
    }
  }
}
