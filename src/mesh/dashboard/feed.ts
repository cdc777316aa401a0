import {type ReplyStream, sseFrame} from '../../net/index.js'
import {onAbort} from '../../process/index.js'
import type {Reading} from './read-state.js'
import {type News, rowsOf, Versions} from './versions.js'

/** Poll interval per `nodesPerPoll` nodes, ms. */
const pollMs = 1000
const nodesPerPoll = 1000
/** Interval of keep-alive comments, ms. */
const pingMs = 15_000
/** Maximum number of open pages. */
const maxStreams = 32

interface Subscriber {
  stream: ReplyStream
  /** Number of the last state sent. */
  sent: number
  /** True while it receives a state; it then gets the newest one. */
  isBusy: boolean
}

/**
 * Streams the state to open pages: first the full state, then changes. A single poller serves all pages and stops while
 * none is open. A slow page skips intermediate states, so that at most one is buffered for it.
 */
export class StateFeed {
  readonly #read: (before: Reading | undefined) => Promise<Reading>
  readonly #now: () => number
  readonly #subscribers = new Set<Subscriber>()
  #reading: Reading | undefined
  readonly #versions = new Versions()
  #isRunning = false
  /** True if another reading was requested during the current one. */
  #isRequested = false
  #wake: (() => void) | undefined
  #ping: NodeJS.Timeout | undefined

  constructor(read: (before: Reading | undefined) => Promise<Reading>, now: () => number) {
    this.#read = read
    this.#now = now
  }

  get isFull(): boolean {
    return this.#subscribers.size >= maxStreams
  }

  subscribe(stream: ReplyStream): void {
    const subscriber: Subscriber = {stream, sent: -1, isBusy: false}
    this.#subscribers.add(subscriber)
    // The response headers are sent with the first byte, so send one now to show the page that it is connected.
    stream.ping()
    onAbort(stream.gone, () => this.#subscribers.delete(subscriber))
    this.#ping ??= setInterval(() => this.#pingAll(), pingMs).unref()
    if (this.#isRunning) this.#offer(subscriber)
    else void this.#run()
  }

  /** Requests an immediate reading, after a change. */
  soon(): void {
    this.#isRequested = true
    this.#wake?.()
  }

  /** Ends every stream. */
  close(): void {
    clearInterval(this.#ping)
    for (const {stream} of this.#subscribers) stream.end()
    this.#subscribers.clear()
    this.#wake?.()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // The last reading may be outdated if no page was open meanwhile.
    this.#versions.forget()
    while (this.#subscribers.size > 0) {
      this.#isRequested = false
      const reading = await this.#read(this.#reading)
      this.#reading = reading
      this.#versions.take(reading.state)
      for (const subscriber of this.#subscribers) this.#offer(subscriber)
      const size = rowsOf(reading.state).length
      if (this.#subscribers.size > 0 && !this.#isRequested)
        await this.#pause(pollMs * Math.max(1, Math.ceil(size / nodesPerPoll)))
    }
    this.#isRunning = false
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #offer(subscriber: Subscriber): void {
    const {stream, sent, isBusy} = subscriber
    const news = isBusy || !this.#subscribers.has(subscriber) ? undefined : this.#versions.since(sent)
    if (news === undefined) return
    subscriber.sent = this.#versions.number
    subscriber.isBusy = true
    void stream.write(this.#frame(news)).then(() => {
      subscriber.isBusy = false
      this.#offer(subscriber)
    })
  }

  #frame({event, data}: News): Buffer {
    const clock_unix_ms = this.#now() + (this.#reading?.aheadMs ?? 0)
    return Buffer.from(sseFrame({id: this.#versions.number, event, data: {clock_unix_ms, ...data}}))
  }

  #pingAll(): void {
    for (const {stream, isBusy} of this.#subscribers) if (!isBusy) stream.ping()
  }
}
