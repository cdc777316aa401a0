/** Events in order, for one reader. */
export class EventStream<E extends object> implements AsyncIterable<E> {
  #events: E[] = []
  #isOver = false
  #isHandling = false
  #wake: () => void = () => undefined
  #waiting: (() => void)[] = []

  push(event: E): void {
    if (this.#isOver) return
    this.#events.push(event)
    this.#wake()
  }

  /** Ends the iteration after the events so far. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  /** Resolves when the reader has handled the events so far, and asks for the next one. */
  async handled(): Promise<void> {
    if (this.#events.length > 0 || this.#isHandling)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    try {
      for (;;) {
        const event = this.#events.shift()
        if (event !== undefined) {
          this.#isHandling = true
          yield event
          this.#isHandling = false
          continue
        }
        this.#release()
        if (this.#isOver) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.end()
      this.#events = []
      this.#isHandling = false
      this.#release()
    }
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
