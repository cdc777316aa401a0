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
  /** Called when an asynchronous request is answered. */
  onSettled: () => void
}

/** Maximum length of a line after and before authentication, bytes. */
const maxLineBytes = 8 << 20
const maxHelloBytes = 64 << 10
/** Maximum number of waiting requests; above it, reading is paused. */
const maxWaiting = 256
/** Size of the responses from which they are written, characters. */
const writeSize = 64 << 10
/** Maximum number of requests per commit. */
const maxGroup = 128

/** Processes the requests of a client strictly sequentially and collects their responses in order. */
export class RequestRunner {
  readonly #service: Service
  readonly #name: string
  readonly #state: ConnectionState
  readonly #context: CallContext
  readonly #onSettled: () => void
  readonly #lines = new LineQueue()
  /** Form of the last valid line. */
  #form: Form = 'wrapped'
  #batch: Batch | undefined
  #request: Request | undefined
  /** Responses that are not written yet. */
  #answers = ''
  /** Requests and responses of the open group; the responses are sent after its commit. */
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

  /** True if reading should be paused. Before authentication, only one line is read. */
  get isFull(): boolean {
    return this.#lines.length > (this.#state.isAuthenticated ? maxWaiting : 0)
  }

  /** True if the responses should be written before the next request. */
  get isWriteDue(): boolean {
    return this.#answers.length >= writeSize || this.#grouped.length >= maxGroup
  }

  get current(): Request {
    return this.#request as Request
  }

  push(lines: readonly Line[]): void {
    this.#lines.push(lines)
  }

  /** Discards waiting requests. */
  clear(): void {
    this.#lines.clear()
    this.#batch = undefined
  }

  /** Sends a last text and discards all other input. */
  dismiss(text: string): void {
    this.#state.on('dismissed')
    this.#lines.clear()
    this.#answers += text
  }

  /** Returns and clears the collected responses. */
  takeAnswers(): string {
    this.closeGroup()
    const answers = this.#answers
    this.#answers = ''
    return answers
  }

  /** Processes the next request. @returns false if there is none */
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
   * Commits the group and releases its responses. If the commit fails, all its requests are answered with the error.
   * @param cause earlier error that may have caused the failure
   */
  closeGroup(cause?: SvcError): void {
    const refused = this.#service.group.close()
    const grouped = this.#grouped
    if (grouped.length === 0) return
    this.#grouped = []
    const failure = refused === undefined ? undefined : (cause ?? refused)
    if (failure !== undefined) this.#service.log.error({err: failure, requests: grouped.length}, 'commit failed')
    for (const {entry, answer} of grouped)
      this.#put(failure === undefined || 'error' in entry ? answer : failureOf(entry, failure))
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

  /** Runs synchronous methods without a promise, which would cost more than some of them. */
  #perform(request: Request): string | Promise<string> {
    this.#request = request
    try {
      const method = this.#service.methods.find(request.method)
      if (!this.#state.isAuthenticated && method.name !== 'orch.hello') throw new SvcError('daemon_token_refused', {})
      // Methods about the connection must see committed data.
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
    // A store error may have rolled back the group.
    if (error.status >= 500) this.closeGroup(error)
    return failureOf(request, error)
  }

  /** Grouping is useless for a client that waits for each response. */
  #mayGroup({effect}: Method): boolean {
    return this.#batch === undefined && this.hasWork && effect !== 'read'
  }

  /** @param answer empty for a notification */
  #put(answer: string): void {
    const complete = this.#batch === undefined ? answer : this.#batch.take(answer)
    if (complete !== undefined) this.#batch = undefined
    if (complete) this.#answers += `${complete}\n`
    // The first request must authenticate.
    if (this.#state.isAuthenticated) return
    this.#service.log.warn({connection: this.#name}, 'refused: first request did not authenticate')
    this.dismiss('')
  }
}

const refuse = ({form, id, error}: Refusal): string => failureOf({form, id: id === undefined ? null : id}, error)

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise
