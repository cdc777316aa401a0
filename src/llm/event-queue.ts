import {onAbort} from '../process/index.js'
/** An asynchronous FIFO queue. Aborting the signal makes the iterator throw its reason. */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #signal: AbortSignal
  readonly #values: T[] = []
  #failure: {error: unknown} | undefined
  #wake: () => void = () => {}
  readonly #stopListening: () => void

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#stopListening = onAbort(signal, (reason) => this.fail(reason))
  }

  push(value: T): void {
    this.#values.push(value)
    this.#wake()
  }

  /** Makes the iterator throw after the values pushed before. */
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
      // The signal may live much longer than the queue.
      this.#stopListening()
    }
  }
}
