import type {Readable, Writable} from 'node:stream'
import {SvcError} from '../errors/index.js'
import type {EventFilter} from '../tasks/index.js'
import type {Caller} from './caller.js'
import {ConnectionState} from './connection-state.js'
import {type Line, LineReader} from './framing.js'
import {RequestRunner} from './request-runner.js'
import type {Service} from './service.js'
import {Subscriptions} from './subscriptions.js'
import type {Worker} from './turns.js'

/** The two ends of a connection. */
export interface Transport {
  readonly name: string
  readonly input: Readable
  readonly output: Writable
  /** Called once, when all that there was to say is written. */
  end(): void
  /** Leaves at once. */
  destroy(): void
}

export interface ConnectionOptions {
  service: Service
  transport: Transport
  /** Whether a token is the right one; undefined where none is wanted. */
  admits?: ((token: string) => boolean) | undefined
  /** The last words to a client whose first line shows that it is in the wrong place; undefined for all others. */
  misdirected?: ((first: Line) => string | undefined) | undefined
}

/** Bytes that may wait to be read by the client: while there are more, nothing is done for it. */
const maxUnread = 256 << 10

/**
 * One client. Its requests are done strictly one after another and answered in their order; while it does not read its
 * answers, no more is read of it and nothing is done for it.
 */
export class Connection implements Worker, Caller {
  readonly #service: Service
  readonly #transport: Transport
  readonly #admits: ConnectionOptions['admits']
  /** Undefined once the first line is known. */
  #misdirected: ConnectionOptions['misdirected']
  readonly #state: ConnectionState
  readonly #reader: LineReader
  readonly #requests: RequestRunner
  readonly #subscriptions: Subscriptions
  readonly #gone = new AbortController()
  /** When the line began whose end has not come, by `performance.now()`. */
  #lineBegan: number | undefined
  /** When it last sent or got anything, by `performance.now()`. */
  activeAt = performance.now()

  constructor({service, transport, admits, misdirected}: ConnectionOptions) {
    this.#service = service
    this.#transport = transport
    this.#admits = admits
    this.#misdirected = misdirected
    this.#state = new ConnectionState(admits === undefined ? 'granted' : 'required')
    const {name, input, output} = transport
    const askForTurn = () => service.turns.ask(this)
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
      onSettled: askForTurn,
    })
    this.#subscriptions = new Subscriptions(service, askForTurn)
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
    output.on('drain', askForTurn)
  }

  /** Whether it has shown its token, or needs none. */
  get isAdmitted(): boolean {
    return this.#state.isAdmitted
  }

  /** Whether nothing is being done for it, and nothing will be unless it asks. */
  get isIdle(): boolean {
    return !this.#requests.hasWork && !this.#state.isAwaiting && this.#subscriptions.isEmpty
  }

  /** Whether it has sent a part of a line, and for so many ms neither the rest nor another line. */
  isStalled(limitMs: number): boolean {
    if (this.#lineBegan === undefined || this.#transport.input.isPaused()) return false
    return performance.now() - this.#lineBegan > limitMs
  }

  greet(token: string | undefined, client: string | undefined): void {
    if (this.#admits === undefined) return
    if (token === undefined || !this.#admits(token)) throw new SvcError('daemon_token_refused', {})
    this.#state.on('admitted')
    this.#reader.maxBytes = this.#requests.maxLineBytes
    this.#service.log.info({connection: this.#transport.name, client}, 'admitted')
  }

  subscribe(filter: EventFilter & {since: number}): string {
    return this.#subscriptions.add(this.#requests.current, filter)
  }

  unsubscribe(id: string): void {
    this.#subscriptions.remove(id)
  }

  shutDown(): void {
    this.#service.shutDown()
  }

  /** Reads no more; what has been read is answered, and then it ends, whatever it has subscribed to. */
  finish(): void {
    this.#state.on('finishRequested')
    this.#service.turns.ask(this)
  }

  /** The client has gone, or is not waited for any more: nothing is done for it from now on. */
  abandon(reason?: SvcError): void {
    this.#state.on('closed')
    this.#service.turns.forget(this)
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
      this.#service.watch.look()
      this.#sendEvents()
      this.#settle()
    } catch (error) {
      this.#service.log.error({err: error, connection: this.#transport.name}, 'connection lost by a fault')
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
    if (first !== undefined && this.#misdirected !== undefined) {
      const words = this.#misdirected(first)
      this.#misdirected = undefined
      if (words !== undefined) this.#requests.dismiss(words)
    }
    if (this.#state.acceptsLines) this.#requests.push(lines)
    if (this.#requests.isFull) this.#transport.input.pause()
    this.#service.turns.ask(this)
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

  /** What is next: another turn, more to read, or the end. */
  #settle(): void {
    if (!this.#state.isReady) return
    const {input} = this.#transport
    // An output that is full asks for a turn when it has been read.
    if (this.#isUnread) {
      input.pause()
      return
    }
    const {hasWork, isFull} = this.#requests
    const {isBehind} = this.#subscriptions
    if (hasWork || isBehind) this.#service.turns.ask(this)
    if (this.#state.isOpen) {
      if (isFull) return
      // The client is not to blame for the time in which nothing was read.
      if (this.#lineBegan !== undefined && input.isPaused()) this.#lineBegan = performance.now()
      input.resume()
    } else if (!hasWork && !(isBehind && this.#state.waitsForEvents)) {
      this.#state.on('closed')
      this.#subscriptions.clear()
      this.#transport.end()
    }
  }
}
