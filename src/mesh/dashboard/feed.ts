import {type ReplyStream, sseFrame} from '../../net/index.js'
import type {Reading} from './read-state.js'
import {type News, rowsOf, Versions} from './versions.js'

/** Between two readings, ms: of a small mesh, and for every so many nodes of a large one. */
const pollMs = 1000
const nodesOfPoll = 1000
/** A comment keeps a silent connection open, ms. */
const pingMs = 15_000
/** Pages that can be open at once. */
const maxStreams = 32

interface Subscriber {
  stream: ReplyStream
  /** Number of the state that it was sent last. */
  sent: number
  /** Has not taken in yet what it was sent; it gets the newest state when it has. */
  isBusy: boolean
}

/**
 * Sends pages the state: whole when they come, and then what has changed. One reader serves them all, and nothing is
 * read while no page is open. A page that is slow misses states in between, and never has more than one waiting for
 * it.
 */
export class StateFeed {
  readonly #read: (before: Reading | undefined) => Promise<Reading>
  readonly #now: () => number
  readonly #subscribers = new Set<Subscriber>()
  #reading: Reading | undefined
  readonly #versions = new Versions()
  #isRunning = false
  /** Something was changed while it was read. */
  #isWanted = false
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
    // The head of the answer goes out with the first byte: the page shall know that it is heard.
    stream.ping()
    stream.gone.addEventListener('abort', () => this.#subscribers.delete(subscriber))
    this.#ping ??= setInterval(() => this.#pingAll(), pingMs).unref()
    if (this.#isRunning) this.#offer(subscriber)
    else void this.#run()
  }

  /** Reads at once, or again where it reads now: something was changed. */
  soon(): void {
    this.#isWanted = true
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
    // What was read for pages that have gone may be old.
    this.#versions.forget()
    while (this.#subscribers.size > 0) {
      this.#isWanted = false
      const reading = await this.#read(this.#reading)
      this.#reading = reading
      this.#versions.take(reading.state)
      for (const subscriber of this.#subscribers) this.#offer(subscriber)
      const size = rowsOf(reading.state).length
      if (this.#subscribers.size > 0 && !this.#isWanted)
        await this.#pause(pollMs * Math.max(1, Math.ceil(size / nodesOfPoll)))
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
