import {SvcError} from '../errors/index.js'
import {Batch} from './batch.js'
import type {CallContext} from './caller.js'
import type {ConnectionState} from './connection-state.js'
import {type Form, failureOf, type Refusal, type Request, readLine, resultOf} from './envelope.js'
import type {Line} from './framing.js'
import {LineQueue} from './line-queue.js'
import type {Method} from './methods.js'
import type {Service} from './service.js'

export interface RequestRunnerOptions {
  service: Service
  name: string
  state: ConnectionState
  context: CallContext
  /** Called when a request that returned a promise is answered. */
  onSettled: () => void
}

/** Longest line, bytes; shorter until the client has shown its token. */
const maxLineBytes = 8 << 20
const maxHelloBytes = 64 << 10
/** Most requests that wait: while there are more, no more are read. */
const maxWaiting = 256
/** Characters of answers that go out in one write. */
const writeSize = 64 << 10
/** Requests whose answers wait for one commit. */
const maxGroup = 128

/** Performs the requests of one client strictly one after another, and collects their answers in the same order. */
export class RequestRunner {
  readonly #service: Service
  readonly #name: string
  readonly #state: ConnectionState
  readonly #context: CallContext
  readonly #onSettled: () => void
  readonly #lines = new LineQueue()
  /** Of the last valid line. */
  #form: Form = 'wrapped'
  #batch: Batch | undefined
  #request: Request | undefined
  /** Answers that are not written yet. */
  #answers = ''
  /** Requests of an open group, with their answers, which are sent once it is committed. */
  #grouped: {entry: Request | Refusal; answer: string}[] = []

  constructor({service, name, state, context, onSettled}: RequestRunnerOptions) {
    this.#service = service
    this.#name = name
    this.#state = state
    this.#context = context
    this.#onSettled = onSettled
  }

  get maxLineBytes(): number {
    return this.#state.isAuthenticated ? maxLineBytes : maxHelloBytes
  }

  get hasWork(): boolean {
    return this.#batch !== undefined || this.#lines.length > 0
  }

  /** Whether no more should be read. No second line is read of a client that has not shown its token. */
  get isFull(): boolean {
    return this.#lines.length > (this.#state.isAuthenticated ? maxWaiting : 0)
  }

  /** Whether the answers should be written before the next request is performed. */
  get isWriteDue(): boolean {
    return this.#answers.length >= writeSize || this.#grouped.length >= maxGroup
  }

  get current(): Request {
    return this.#request as Request
  }

  push(lines: readonly Line[]): void {
    this.#lines.push(lines)
  }

  /** Forgets what has not been performed. */
  clear(): void {
    this.#lines.clear()
    this.#batch = undefined
  }

  /** Answers with this text and discards whatever else was or will be sent. */
  dismiss(text: string): void {
    this.#state.on('dismissed')
    this.#lines.clear()
    this.#answers += text
  }

  /** The answers that have been collected. */
  takeAnswers(): string {
    this.closeGroup()
    const answers = this.#answers
    this.#answers = ''
    return answers
  }

  /** Performs the next request; false where there is none. */
  step(): boolean {
    if (this.#batch !== undefined) {
      this.#do(this.#batch.next())
      return true
    }
    const line = this.#lines.shift()
    if (line === undefined) return false
    const entry = readLine(line, this.maxLineBytes, this.#form)
    if ('entries' in entry) {
      this.#form = 'json-rpc'
      this.#startBatch(entry.entries)
    } else {
      if (!('error' in entry)) this.#form = entry.form
      this.#do(entry)
    }
    return true
  }

  /**
   * Commits the group and passes its answers on; where that fails, every request of it is answered with the fault.
   * @param cause a fault that may be why it cannot be committed
   */
  closeGroup(cause?: SvcError): void {
    const refused = this.#service.group.close()
    const grouped = this.#grouped
    if (grouped.length === 0) return
    this.#grouped = []
    const fault = refused === undefined ? undefined : (cause ?? refused)
    if (fault !== undefined) this.#service.log.error({err: fault, requests: grouped.length}, 'requests were not kept')
    for (const {entry, answer} of grouped)
      this.#put(fault === undefined || 'error' in entry ? answer : failureOf(entry, fault))
  }

  #startBatch(entries: readonly unknown[]): void {
    this.closeGroup()
    try {
      if (!this.#state.isAuthenticated) throw new SvcError('daemon_token_refused', {})
      this.#batch = new Batch(entries)
    } catch (error) {
      this.#do({form: 'json-rpc', id: null, error: SvcError.from(error)})
    }
  }

  #do(entry: Request | Refusal): void {
    const answer = 'error' in entry ? refuse(entry) : this.#perform(entry)
    if (typeof answer === 'string') {
      if (this.#service.group.isOpen) this.#grouped.push({entry, answer})
      else this.#put(answer)
      return
    }
    this.closeGroup()
    this.#state.on('requestStarted')
    answer.then((text) => {
      this.#state.on('requestSettled')
      if (this.#state.isClosed) return
      this.#put(text)
      this.#onSettled()
    })
  }

  /** Most requests are performed synchronously: a promise would cost more than some of them. */
  #perform(request: Request): string | Promise<string> {
    this.#request = request
    try {
      const method = this.#service.methods.find(request.method)
      if (!this.#state.isAuthenticated && method.name !== 'orch.hello') throw new SvcError('daemon_token_refused', {})
      // Methods about the connection read what is committed.
      if (method.effect === undefined) this.closeGroup()
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
    // A fault of the store may have undone the group.
    if (error.status >= 500) this.closeGroup(error)
    return failureOf(request, error)
  }

  /** A client that waits for each answer gains nothing by a group. */
  #mayGroup({effect}: Method): boolean {
    return this.#batch === undefined && this.hasWork && effect !== 'read'
  }

  /** @param answer empty for a notification */
  #put(answer: string): void {
    const complete = this.#batch === undefined ? answer : this.#batch.take(answer)
    if (complete !== undefined) this.#batch = undefined
    if (complete) this.#answers += `${complete}\n`
    // The first request must show the token.
    if (this.#state.isAuthenticated) return
    this.#service.log.warn({connection: this.#name}, 'refused: it did not begin with the token')
    this.dismiss('')
  }
}

const refuse = ({form, id, error}: Refusal): string => failureOf({form, id: id === undefined ? null : id}, error)

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise
