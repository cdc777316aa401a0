import {SvcError} from '../errors/index.js'

export interface LargeBody {
  bytes: number
  handle(): void
  /** True if the client has disconnected. */
  isGone(): boolean
  refuse(error: SvcError): void
}

/**
 * Handles large bodies sequentially with a pause after each, so that they use at most 5 % of the time of the thread and
 * do not slow down other clients.
 */
export class LargeBodies {
  /** Bodies from this size are large, bytes. */
  static readonly from = 64 << 10
  /** Maximum total size of waiting bodies, bytes. */
  static readonly #maxWaiting = 64 << 20
  /** Length of the pause, as a multiple of the time that the body took. */
  static readonly #pauseFactor = 19
  readonly #waiting: LargeBody[] = []
  #waitingBytes = 0
  #isBusy = false

  /** Queues a body; refuses it with `overloaded` if too many are waiting. */
  add(body: LargeBody): void {
    if (!this.#isBusy) {
      this.#handle(body)
      return
    }
    if (this.#waitingBytes + body.bytes > LargeBodies.#maxWaiting) {
      body.refuse(new SvcError('overloaded', {reason: 'Too many large requests are waiting.'}))
      return
    }
    this.#waiting.push(body)
    this.#waitingBytes += body.bytes
  }

  #handle(body: LargeBody): void {
    this.#isBusy = true
    const started = performance.now()
    if (body.isGone()) body.refuse(new SvcError('interrupted', {}))
    else body.handle()
    setTimeout(() => this.#next(), (performance.now() - started) * LargeBodies.#pauseFactor)
  }

  #next(): void {
    this.#isBusy = false
    const body = this.#waiting.shift()
    if (body === undefined) return
    this.#waitingBytes -= body.bytes
    this.#handle(body)
  }
}
