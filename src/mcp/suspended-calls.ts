import {randomUUID} from 'node:crypto'
import {
  type ElicitRequestFormParams,
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type {Schema} from '../contracts/index.js'
import {answerOf} from './call-hooks.js'

/** Key of the only question that a call asks at a time. */
const key = 'answer'

/**
 * A call that can outlast its first request. Since revision 2026-07-28 a server cannot send requests: it asks a question
 * in a response, and the client repeats its request with the answer.
 */
export class ResumableCall {
  readonly name: string
  readonly #abort = new AbortController()
  #context: ServerContext
  #reply: Promise<Result>
  #respond: (reply: Result | Promise<Result>) => void = () => undefined

  constructor(name: string, context: ServerContext) {
    this.name = name
    this.#context = context
    this.#reply = this.#next()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get context(): ServerContext {
    return this.#context
  }

  /** Resolves with the response to the current request: the result of the call, or a question. */
  async reply(): Promise<Result> {
    const {signal} = this.#context.mcpReq
    const abort = () => this.#abort.abort(signal.reason)
    signal.addEventListener('abort', abort, {once: true})
    try {
      return await this.#reply
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Responds with the result of the call as soon as there is one. */
  settle(result: Promise<Result>): void {
    const respond = () => this.#respond(result)
    result.then(respond, respond)
  }

  suspend(question: InputRequiredResult): void {
    this.#respond(question)
  }

  resume(context: ServerContext): void {
    this.#context = context
    this.#reply = this.#next()
  }

  #next(): Promise<Result> {
    return new Promise((resolve) => {
      this.#respond = resolve
    })
  }
}

interface Waiting {
  call: ResumableCall
  question: InputRequiredResult
  schema: Schema
  answer(result: ElicitResult): void
}

/** Calls that wait for an answer, by the random state that the client returns with it. */
export class SuspendedCalls {
  readonly #waiting = new Map<string, Waiting>()

  /** Suspends a call until the client answers. @throws if `signal` aborts first */
  ask(call: ResumableCall, params: ElicitRequestFormParams, signal: AbortSignal): Promise<ElicitResult> {
    const state = randomUUID()
    const question = inputRequired({
      inputRequests: {[key]: {method: 'elicitation/create', params}},
      requestState: state,
    })
    return new Promise((resolve, reject) => {
      const forget = () => {
        this.#waiting.delete(state)
        signal.removeEventListener('abort', stop)
      }
      const stop = () => {
        forget()
        reject(signal.reason)
      }
      const answer = (result: ElicitResult) => {
        forget()
        resolve(result)
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, {once: true})
      this.#waiting.set(state, {call, question, schema: params.requestedSchema as unknown as Schema, answer})
      call.suspend(question)
    })
  }

  /**
   * Continues a call with the answer in a request.
   * @throws ProtocolError if no such call waits, or if the answer is invalid; the call then waits for another one
   */
  async resume(state: string, name: string, context: ServerContext): Promise<ResumableCall> {
    const result = context.mcpReq.inputResponses?.[key]
    const asked = this.#waiting.get(state)?.schema
    if (asked !== undefined && isElicitResult(result)) await answerOf(result, {schema: asked})
    const waiting = this.#waiting.get(state)
    if (waiting === undefined || waiting.call.name !== name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState.')
    const {call, question, answer} = waiting
    call.resume(context)
    if (isElicitResult(result)) answer(result)
    else call.suspend(question)
    return call
  }
}

const isElicitResult = (value: unknown): value is ElicitResult =>
  typeof value === 'object' && value !== null && typeof (value as {action?: unknown}).action === 'string'
