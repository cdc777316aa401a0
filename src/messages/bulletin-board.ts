import {logger} from '../log/index.js'

/** Receives an entry; the next one is delivered after the listener has finished. */
export type Listener<T> = (entry: T) => unknown

export interface Subscription {
  /** Number of entries dropped because the listener lagged behind. */
  readonly dropped: number
  close(): void
}

/** Delivers entries to every subscriber in order. A slow subscriber loses its oldest pending entries. */
export class BulletinBoard<T extends object> {
  readonly #capacity: () => number
  readonly #subscribers = new Set<Subscriber<T>>()

  /** @param capacity the maximum number of entries that a subscriber may lag behind */
  constructor(capacity: () => number) {
    this.#capacity = capacity
  }

  post(entry: T): void {
    for (const subscriber of this.#subscribers) subscriber.push(entry, this.#capacity())
  }

  subscribe(listener: Listener<T>): Subscription {
    const subscriber = new Subscriber(listener)
    this.#subscribers.add(subscriber)
    return {
      get dropped() {
        return subscriber.dropped
      },
      close: () => {
        this.#subscribers.delete(subscriber)
        subscriber.close()
      },
    }
  }
}

class Subscriber<T extends object> {
  dropped = 0
  readonly #listener: Listener<T>
  readonly #waiting: T[] = []
  #isNotifying = false

  constructor(listener: Listener<T>) {
    this.#listener = listener
  }

  push(entry: T, capacity: number): void {
    while (this.#waiting.length >= capacity) {
      this.#waiting.shift()
      this.dropped++
    }
    this.#waiting.push(entry)
    if (!this.#isNotifying) void this.#notify()
  }

  close(): void {
    this.#waiting.length = 0
  }

  async #notify(): Promise<void> {
    this.#isNotifying = true
    for (let entry = this.#waiting.shift(); entry !== undefined; entry = this.#waiting.shift())
      try {
        const handled = this.#listener(entry)
        // A synchronous listener never lags behind.
        if (handled instanceof Promise) await handled
      } catch (error) {
        logger('svc.orchestrator.messages').warn({err: error}, 'A subscriber of broadcasts failed.')
      }
    this.#isNotifying = false
  }
}
