import {SvcError} from '../errors/index.js'

export interface LargeBody {
  bytes: number
  handle(): void
  /** Whether its client has disconnected. */
  isGone(): boolean
  refuse(error: SvcError): void
}

/**
 * Handles large bodies one after the other, with a rest after each, so that clients that send many of them do not slow
 * down the others: large bodies take at most a twentieth of the time of the thread.
 */
export class LargeBodies {
  /** Bodies from this size are large, bytes. */
  static readonly from = 64 << 10
  /** Bytes of the bodies that may wait. */
  static readonly #mostWaiting = 64 << 20
  /** Length of the rest, as a multiple of the time that the body took. */
  static readonly #rest = 19
  readonly #waiting: LargeBody[] = []
  #waitingBytes = 0
  #isBusy = false

  /** Handles a body when its turn comes; refuses it with `overloaded` when too many are waiting. */
  add(body: LargeBody): void {
    if (!this.#isBusy) {
      this.#handle(body)
      return
    }
    if (this.#waitingBytes + body.bytes > LargeBodies.#mostWaiting) {
      body.refuse(new SvcError('overloaded', {reason: 'Too many large requests are waiting already.'}))
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
    setTimeout(() => this.#next(), (performance.now() - started) * LargeBodies.#rest)
  }

  #next(): void {
    this.#isBusy = false
    const body = this.#waiting.shift()
    if (body === undefined) return
    this.#waitingBytes -= body.bytes
    this.#handle(body)
  }
}
