import type {Readable, Writable} from 'node:stream'
import {SvcError} from '../errors/index.js'
import type {EventFilter} from '../tasks/index.js'
import type {Caller} from './caller.js'
import {ConnectionState} from './connection-state.js'
import {type Line, LineReader} from './framing.js'
import {RequestRunner} from './request-runner.js'
import type {Worker} from './round-robin.js'
import type {Service} from './service.js'
import type {Feed} from './subscription.js'
import {Subscriptions} from './subscriptions.js'

/** Streams of a connection. */
export interface Transport {
  readonly name: string
  readonly input: Readable
  readonly output: Writable
  /** Called once, after everything is written. */
  end(): void
  destroy(): void
}

export interface ConnectionOptions {
  service: Service
  transport: Transport
  /** Undefined if no token is required. */
  isValidToken?: ((token: string) => boolean) | undefined
  /** Returns the only response to a client whose first line has another protocol; undefined for other clients. */
  refuseFirstLine?: ((first: Line) => string | undefined) | undefined
}

/** Maximum number of unread output bytes; above it, the client's requests are not processed. */
const maxUnread = 256 << 10

/**
 * Connection of a client. Requests are processed strictly sequentially and answered in order. While the client does not
 * read its responses, its input is neither read nor processed.
 */
export class Connection implements Worker, Caller {
  readonly #service: Service
  readonly #transport: Transport
  readonly #isValidToken: ConnectionOptions['isValidToken']
  /** Undefined after the first line. */
  #refuseFirstLine: ConnectionOptions['refuseFirstLine']
  readonly #state: ConnectionState
  readonly #reader: LineReader
  readonly #requests: RequestRunner
  readonly #subscriptions: Subscriptions
  readonly #gone = new AbortController()
  /** Start of the incomplete line, by `performance.now()`. */
  #lineBegan: number | undefined
  /** Last input or output, by `performance.now()`. */
  activeAt = performance.now()

  constructor({service, transport, isValidToken, refuseFirstLine}: ConnectionOptions) {
    this.#service = service
    this.#transport = transport
    this.#isValidToken = isValidToken
    this.#refuseFirstLine = refuseFirstLine
    this.#state = new ConnectionState(isValidToken === undefined ? 'done' : 'required')
    const {name, input, output} = transport
    const schedule = () => service.roundRobin.schedule(this)
    this.#requests = new RequestRunner({
      service,
      name,
      state: this.#state,
      context: {
        ...service.base,
        signal: this.#gone.signal,
        report: () => undefined,
        notice: (text) => service.log.info({connection: name}, text),
        ask: undefined,
        caller: this,
      },
      onSettled: schedule,
    })
    this.#subscriptions = new Subscriptions(service, schedule)
    this.#reader = new LineReader(this.#requests.maxLineBytes)
    input.on('data', (chunk: Buffer) => {
      const lines = this.#reader.push(chunk)
      if (!this.#reader.isWithinLine) this.#lineBegan = undefined
      else if (lines.length > 0) this.#lineBegan = performance.now()
      else this.#lineBegan ??= performance.now()
      this.#receive(lines)
    })
    input.once('end', () => {
      this.#state.on('inputEnded')
      this.#receive(this.#reader.end())
    })
    output.on('drain', schedule)
  }

  /** True if the client has sent a valid token, or none is required. */
  get isAuthenticated(): boolean {
    return this.#state.isAuthenticated
  }

  /** True if it has no requests and no subscriptions. */
  get isIdle(): boolean {
    return !this.#requests.hasWork && !this.#state.isAwaiting && this.#subscriptions.isEmpty
  }

  /** True if a line has been incomplete for longer than the limit. */
  isStalled(limitMs: number): boolean {
    if (this.#lineBegan === undefined || this.#transport.input.isPaused()) return false
    return performance.now() - this.#lineBegan > limitMs
  }

  authenticate(token: string | undefined, client: string | undefined): void {
    if (this.#isValidToken === undefined) return
    if (token === undefined || !this.#isValidToken(token)) throw new SvcError('daemon_token_refused', {})
    this.#state.on('authenticated')
    this.#reader.maxBytes = this.#requests.maxLineBytes
    this.#service.log.info({connection: this.#transport.name, client}, 'client authenticated')
  }

  subscribe(feed: Feed, filter: EventFilter & {since: number}): string {
    return this.#subscriptions.add(this.#requests.current, feed, filter)
  }

  unsubscribe(id: string): void {
    this.#subscriptions.remove(id)
  }

  shutDown(): void {
    this.#service.shutDown()
  }

  /** Stops reading, answers the requests that have been read and closes, ignoring subscriptions. */
  finish(): void {
    this.#state.on('finishRequested')
    this.#service.roundRobin.schedule(this)
  }

  /** Drops the client: cancels its requests and subscriptions. */
  abandon(reason?: SvcError): void {
    this.#state.on('closed')
    this.#service.roundRobin.cancel(this)
    this.#subscriptions.clear()
    this.#requests.clear()
    this.#gone.abort(reason)
  }

  work(until: number): void {
    try {
      while (this.#state.isReady && !this.#isUnread && this.#requests.step()) {
        if (this.#requests.isWriteDue) this.#write(this.#requests.takeAnswers())
        if (performance.now() >= until) break
      }
      this.#write(this.#requests.takeAnswers())
      this.#service.watch.refresh()
      this.#sendEvents()
      this.#settle()
    } catch (error) {
      this.#service.log.error(
        {err: error, connection: this.#transport.name},
        'connection closed after an internal error',
      )
      this.#transport.destroy()
    } finally {
      this.#requests.closeGroup()
    }
  }

  get #isUnread(): boolean {
    return this.#transport.output.writableLength > maxUnread
  }

  #receive(lines: readonly Line[]): void {
    this.activeAt = performance.now()
    const [first] = lines
    if (first !== undefined && this.#refuseFirstLine !== undefined) {
      const refusal = this.#refuseFirstLine(first)
      this.#refuseFirstLine = undefined
      if (refusal !== undefined) this.#requests.dismiss(refusal)
    }
    if (this.#state.acceptsLines) this.#requests.push(lines)
    if (this.#requests.isFull) this.#transport.input.pause()
    this.#service.roundRobin.schedule(this)
  }

  #write(text: string): void {
    if (text === '') return
    this.activeAt = performance.now()
    this.#transport.output.write(text)
  }

  #sendEvents(): void {
    if (this.#state.isClosed || this.#isUnread) return
    for (const page of this.#subscriptions.pages()) {
      this.#write(page)
      if (this.#isUnread) return
    }
  }

  /** Schedules more work, reads more input, or closes the connection. */
  #settle(): void {
    if (!this.#state.isReady) return
    const {input} = this.#transport
    // The `drain` event of the output schedules this connection again.
    if (this.#isUnread) {
      input.pause()
      return
    }
    const {hasWork, isFull} = this.#requests
    const {isBehind} = this.#subscriptions
    if (hasWork || isBehind) this.#service.roundRobin.schedule(this)
    if (this.#state.isOpen) {
      if (isFull) return
      // The time during which reading was paused does not count.
      if (this.#lineBegan !== undefined && input.isPaused()) this.#lineBegan = performance.now()
      input.resume()
    } else if (!hasWork && !(isBehind && this.#state.waitsForEvents)) {
      this.#state.on('closed')
      this.#subscriptions.clear()
      this.#transport.end()
    }
  }
}
