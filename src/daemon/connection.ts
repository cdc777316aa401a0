import type {Readable, Writable} from 'node:stream'
import {isErrorOf, SvcError} from '../errors/index.js'
import type {Logger} from '../log/index.js'
import type {OperationBase} from '../operations/index.js'
import type {EventFilter} from '../tasks/index.js'
import {Batch} from './batch.js'
import type {CallContext, Caller} from './caller.js'
import {type Form, failureOf, type Refusal, type Request, readLine, resultOf} from './envelope.js'
import type {EventWatch} from './event-watch.js'
import {type Line, LineReader} from './framing.js'
import type {GroupCommit} from './group-commit.js'
import {LineQueue} from './line-queue.js'
import type {Method, Methods} from './methods.js'
import {Subscription} from './subscription.js'
import type {Turns, Worker} from './turns.js'

/** What all connections of a process share. */
export interface Service {
  readonly base: OperationBase
  readonly methods: Methods
  readonly turns: Turns
  readonly watch: EventWatch
  readonly group: GroupCommit
  readonly log: Logger
  /** Ends the daemon. */
  readonly shutDown: () => void
}

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
  /** What somebody is told whose first line shows that he is in the wrong place; undefined for all others. */
  misdirected?: ((first: Line) => string | undefined) | undefined
}

/** Longest line, bytes; less for those who have not shown their token. */
const maxLineBytes = 8 << 20
const maxGreetingBytes = 64 << 10
/** Requests that may wait: while there are more, no more are read. */
const maxWaiting = 256
/** Bytes that may wait to be read by the client: while there are more, nothing is done for it. */
const maxUnread = 256 << 10
/** Characters of answers that go out in one write. */
const writeSize = 64 << 10
/** Requests whose answers wait for one commit. */
const maxGroup = 128
const maxSubscriptions = 64

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
  readonly #reader: LineReader
  readonly #context: CallContext
  readonly #gone = new AbortController()
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #lines = new LineQueue()
  /** Of the last valid line. */
  #form: Form = 'wrapped'
  /** When the line began whose end has not come, by `performance.now()`. */
  #lineBegan: number | undefined
  #batch: Batch | undefined
  /** The request that is being done. */
  #request: Request | undefined
  /** Answers that are not written yet. */
  #answers = ''
  /** Requests of an open group, and what they are answered once it is kept. */
  #grouped: {said: Request | Refusal; answer: string}[] = []
  #isAwaiting = false
  #isAdmitted: boolean
  /** No more will be read: the client has sent its last line, or must leave. A subscription does not keep it open. */
  #hasEnded = false
  #isFinishing = false
  /** What was said after this is not looked at. */
  #isOver = false
  #isDone = false
  #made = 0
  #stopListening: (() => void) | undefined
  /** When it last sent or got anything, by `performance.now()`. */
  activeAt = performance.now()

  constructor({service, transport, admits, misdirected}: ConnectionOptions) {
    this.#service = service
    this.#transport = transport
    this.#admits = admits
    this.#misdirected = misdirected
    this.#isAdmitted = admits === undefined
    this.#reader = new LineReader(this.#isAdmitted ? maxLineBytes : maxGreetingBytes)
    this.#context = {
      ...service.base,
      signal: this.#gone.signal,
      report: () => undefined,
      notice: (text) => service.log.info({connection: transport.name}, text),
      ask: undefined,
      caller: this,
    }
    const {input, output} = transport
    input.on('data', (chunk: Buffer) => {
      const lines = this.#reader.push(chunk)
      if (!this.#reader.isWithinLine) this.#lineBegan = undefined
      else if (lines.length > 0) this.#lineBegan = performance.now()
      else this.#lineBegan ??= performance.now()
      this.#receive(lines)
    })
    input.once('end', () => {
      this.#hasEnded = true
      this.#receive(this.#reader.end())
    })
    output.on('drain', () => service.turns.ask(this))
  }

  /** Whether it has shown its token, or needs none. */
  get isAdmitted(): boolean {
    return this.#isAdmitted
  }

  /** Whether nothing is being done for it, and nothing will be unless it asks. */
  get isIdle(): boolean {
    return !this.#hasWork && !this.#isAwaiting && this.#subscriptions.size === 0
  }

  /** Whether it has sent a part of a line, and for so many ms neither the rest nor another line. */
  isStalled(limitMs: number): boolean {
    if (this.#lineBegan === undefined || this.#transport.input.isPaused()) return false
    return performance.now() - this.#lineBegan > limitMs
  }

  greet(token: string | undefined, client: string | undefined): void {
    if (this.#admits === undefined) return
    if (token === undefined || !this.#admits(token)) throw new SvcError('daemon_token_refused', {})
    this.#isAdmitted = true
    this.#reader.maxBytes = maxLineBytes
    this.#service.log.info({connection: this.#transport.name, client}, 'admitted')
  }

  subscribe(filter: EventFilter & {since: number}): string {
    if (this.#subscriptions.size >= maxSubscriptions)
      throw new SvcError('subscriptions_exhausted', {limit: maxSubscriptions})
    const {turns, watch} = this.#service
    this.#stopListening ??= watch.listen(() => turns.ask(this))
    const id = `s${++this.#made}`
    this.#subscriptions.set(id, new Subscription(id, this.#request as Request, filter))
    return id
  }

  unsubscribe(id: string): void {
    if (!this.#subscriptions.delete(id)) throw new SvcError('subscription_not_found', {subscription: id})
    if (this.#subscriptions.size === 0) this.#unlisten()
  }

  shutDown(): void {
    this.#service.shutDown()
  }

  /** Reads no more; what has been read is answered, and then it ends, whatever it has subscribed to. */
  finish(): void {
    this.#hasEnded = true
    this.#isFinishing = true
    this.#service.turns.ask(this)
  }

  /** The client has gone, or is not waited for any more: nothing is done for it from now on. */
  abandon(reason?: SvcError): void {
    this.#isDone = true
    this.#service.turns.forget(this)
    this.#subscriptions.clear()
    this.#unlisten()
    this.#lines.clear()
    this.#batch = undefined
    this.#gone.abort(reason)
  }

  work(until: number): void {
    try {
      while (this.#mayWork && this.#step()) {
        if (this.#answers.length >= writeSize || this.#grouped.length >= maxGroup) this.#write()
        if (performance.now() >= until) break
      }
      this.#write()
      this.#service.watch.look()
      this.#sendEvents()
      this.#settle()
    } catch (error) {
      this.#service.log.error({err: error, connection: this.#transport.name}, 'connection lost by a fault')
      this.#transport.destroy()
    } finally {
      this.#closeGroup()
    }
  }

  get #hasWork(): boolean {
    return this.#batch !== undefined || this.#lines.length > 0
  }

  get #isUnread(): boolean {
    return this.#transport.output.writableLength > maxUnread
  }

  /** Of somebody who has not shown the token no second line is read. */
  get #isFull(): boolean {
    return this.#lines.length > (this.#isAdmitted ? maxWaiting : 0)
  }

  get #mayWork(): boolean {
    return !this.#isAwaiting && !this.#isDone && !this.#isUnread
  }

  #receive(lines: readonly Line[]): void {
    this.activeAt = performance.now()
    const [first] = lines
    if (first !== undefined && this.#misdirected !== undefined) {
      const words = this.#misdirected(first)
      this.#misdirected = undefined
      if (words !== undefined) this.#dismiss(words)
    }
    // What comes after the end is read to be thrown away.
    if (!this.#isOver && !this.#isDone) this.#lines.push(lines)
    if (this.#isFull) this.#transport.input.pause()
    this.#service.turns.ask(this)
  }

  /** Does the next thing; false where there is none. */
  #step(): boolean {
    if (this.#batch !== undefined) {
      this.#do(this.#batch.next())
      return true
    }
    const line = this.#lines.shift()
    if (line === undefined) return false
    const said = readLine(line, this.#reader.maxBytes, this.#form)
    if ('entries' in said) {
      this.#form = 'json-rpc'
      this.#startBatch(said.entries)
    } else {
      if (!('error' in said)) this.#form = said.form
      this.#do(said)
    }
    return true
  }

  #startBatch(entries: readonly unknown[]): void {
    this.#closeGroup()
    try {
      if (!this.#isAdmitted) throw new SvcError('daemon_token_refused', {})
      this.#batch = new Batch(entries)
    } catch (error) {
      this.#do({form: 'json-rpc', id: null, error: SvcError.from(error)})
    }
  }

  #do(said: Request | Refusal): void {
    const answer = 'error' in said ? this.#refuse(said) : this.#perform(said)
    if (typeof answer === 'string') {
      if (this.#service.group.isOpen) this.#grouped.push({said, answer})
      else this.#put(answer)
      return
    }
    this.#closeGroup()
    this.#isAwaiting = true
    answer.then((text) => {
      this.#isAwaiting = false
      if (this.#isDone) return
      this.#put(text)
      this.#service.turns.ask(this)
    })
  }

  #refuse({form, id, error}: Refusal): string {
    // Whoever must show a token first has not done so.
    if (!this.#isAdmitted) this.#isOver = true
    return failureOf({form, id: id === undefined ? null : id}, error)
  }

  /** Most requests are done at once: promises would cost more than some of them. */
  #perform(request: Request): string | Promise<string> {
    this.#request = request
    try {
      const method = this.#service.methods.find(request.method)
      if (!this.#isAdmitted && method.name !== 'orch.hello') throw new SvcError('daemon_token_refused', {})
      // What is about the connection looks at what is kept.
      if (method.effect === undefined) this.#closeGroup()
      else if (this.#mayGroup(method)) this.#service.group.open()
      const value = method.call.perform(request.params, this.#context)
      if (!isPromise(value)) return this.#succeed(request, value)
      return value.then(
        (settled) => this.#succeed(request, settled),
        (error: unknown) => this.#fail(request, error),
      )
    } catch (error) {
      return this.#fail(request, error)
    }
  }

  #succeed(request: Request, value: unknown): string {
    try {
      return resultOf(request, value)
    } catch (error) {
      return this.#fail(request, error)
    }
  }

  #fail(request: Request, thrown: unknown): string {
    const error = SvcError.from(thrown)
    const {log} = this.#service
    const {method} = request
    const {code, message} = error
    if (error.status === 500) log.error({err: thrown, method, code}, message)
    else log.debug({method, code}, message)
    // Whatever went wrong in the store may have undone the group.
    if (error.status >= 500) this.#closeGroup(error)
    // Whoever must show a token first gets one try.
    if (!this.#isAdmitted) this.#isOver = true
    return failureOf(request, error)
  }

  /** Somebody who waits for each answer gains nothing by a group. */
  #mayGroup({effect}: Method): boolean {
    return this.#batch === undefined && this.#hasWork && effect !== 'read'
  }

  /**
   * Keeps what has been done, and says so; or says of all of it that it was not.
   * @param cause what has gone wrong already, and may be why it cannot be kept
   */
  #closeGroup(cause?: SvcError): void {
    const refused = this.#service.group.close()
    const grouped = this.#grouped
    if (grouped.length === 0) return
    this.#grouped = []
    const fault = refused === undefined ? undefined : (cause ?? refused)
    if (fault !== undefined) this.#service.log.error({err: fault, requests: grouped.length}, 'requests were not kept')
    for (const {said, answer} of grouped)
      this.#put(fault === undefined || 'error' in said ? answer : failureOf(said, fault))
  }

  /** @param answer empty where none is wanted */
  #put(answer: string): void {
    const whole = this.#batch === undefined ? answer : this.#batch.take(answer)
    if (whole !== undefined) this.#batch = undefined
    if (whole) this.#answers += `${whole}\n`
    if (!this.#isOver) return
    this.#service.log.warn({connection: this.#transport.name}, 'refused: it did not begin with the token')
    this.#dismiss('')
  }

  /** Says the last words; whatever else was or will be said to it is not looked at. */
  #dismiss(words: string): void {
    this.#isOver = true
    this.#hasEnded = true
    this.#lines.clear()
    this.#answers += words
  }

  #write(): void {
    this.#closeGroup()
    if (this.#answers === '') return
    const answers = this.#answers
    this.#answers = ''
    this.activeAt = performance.now()
    this.#transport.output.write(answers)
  }

  /** A page for everybody who is behind; more when these have been read. */
  #sendEvents(): void {
    const {
      base: {modules, orchestrator},
      watch: {last},
    } = this.#service
    for (const subscription of this.#subscriptions.values()) {
      if (this.#isDone || this.#isUnread || !subscription.isBehind(last)) continue
      try {
        this.#answers += subscription.read(modules, orchestrator, last)
        this.#write()
      } catch (error) {
        // The next look is soon enough.
        if (!isErrorOf(error, 'store_busy')) throw error
      }
    }
  }

  /** What is next: another turn, more to read, or the end. */
  #settle(): void {
    if (this.#isDone || this.#isAwaiting) return
    const {turns, watch} = this.#service
    const {input} = this.#transport
    // An output that is full asks for a turn when it has been read.
    if (this.#isUnread) {
      input.pause()
      return
    }
    const isBehind = [...this.#subscriptions.values()].some((subscription) => subscription.isBehind(watch.last))
    if (this.#hasWork || isBehind) turns.ask(this)
    if (!this.#hasEnded) {
      if (this.#isFull) return
      // The client is not to blame for the time in which nothing was read.
      if (this.#lineBegan !== undefined && input.isPaused()) this.#lineBegan = performance.now()
      input.resume()
    } else if (!this.#hasWork && (this.#isFinishing || !isBehind)) {
      this.#isDone = true
      this.#subscriptions.clear()
      this.#unlisten()
      this.#transport.end()
    }
  }

  #unlisten(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
  }
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise
