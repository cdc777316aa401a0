import {randomUUID} from 'node:crypto'
import {
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {isObject, type Schema} from '../contracts/index.js'
import {forwardAbort, onAbort} from '../process/index.js'
import {answerOf} from './call-hooks.js'
import type {ClientRequests} from './tool.js'

/** Results of requests to a client by their keys. */
export type ClientResults = Readonly<Record<string, unknown>>

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
    const stopListening = forwardAbort(signal, this.#abort)
    try {
      return await this.#reply
    } finally {
      stopListening()
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
  requests: ClientRequests
  answer(results: ClientResults): void
}

/** Calls that wait for an answer, by the random state that the client returns with it. */
export class SuspendedCalls {
  readonly #waiting = new Map<string, Waiting>()

  /** Suspends a call until the client has answered all requests. @throws if `signal` aborts first */
  ask(call: ResumableCall, requests: ClientRequests, signal: AbortSignal): Promise<ClientResults> {
    const state = randomUUID()
    const question = inputRequired({inputRequests: {...requests}, requestState: state})
    let stopListening = () => {}
    const answered = new Promise<ClientResults>((resolve, reject) => {
      const answer = (results: ClientResults) => {
        this.#waiting.delete(state)
        resolve(results)
      }
      this.#waiting.set(state, {call, question, requests, answer})
      stopListening = onAbort(signal, (reason) => {
        this.#waiting.delete(state)
        reject(reason)
      })
    })
    if (!signal.aborted) call.suspend(question)
    return answered.finally(stopListening)
  }

  /**
   * Continues a call with the answers in a request.
   * @throws ProtocolError if no such call waits, or if an answer is invalid; the call then waits for another one
   */
  async resume(state: string, name: string, context: ServerContext): Promise<ResumableCall> {
    const results = resultsOf(context, this.#waiting.get(state)?.requests ?? {})
    await checkResults(results, this.#waiting.get(state)?.requests ?? {})
    const waiting = this.#waiting.get(state)
    if (waiting === undefined || waiting.call.name !== name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState.')
    const {call, question, requests, answer} = waiting
    call.resume(context)
    if (isComplete(results, requests)) answer(results)
    else call.suspend(question)
    return call
  }
}

/**
 * The answers that a client has sent before it was asked; undefined if one is missing.
 * @throws ProtocolError if one is invalid
 */
export async function earlyResults(
  {mcpReq}: ServerContext,
  requests: ClientRequests,
): Promise<ClientResults | undefined> {
  if (mcpReq.requestState<string>() !== undefined) return undefined
  const results = resultsOf({mcpReq}, requests)
  await checkResults(results, requests)
  return isComplete(results, requests) ? results : undefined
}

/** The answers of a request that have the form of one; clients may send others, too. */
function resultsOf({mcpReq}: Pick<ServerContext, 'mcpReq'>, requests: ClientRequests): ClientResults {
  const {inputResponses = {}} = mcpReq
  return Object.fromEntries(
    Object.entries(requests)
      .map(([key, {method}]) => [key, method, inputResponses[key]] as const)
      .filter(([, method, result]) => (method === 'elicitation/create' ? isElicitResult(result) : isObject(result)))
      .map(([key, , result]) => [key, result]),
  )
}

const isComplete = (results: ClientResults, requests: ClientRequests) =>
  Object.keys(requests).every((key) => results[key] !== undefined)

/** @throws ProtocolError if an answer does not match the schema of its question */
async function checkResults(results: ClientResults, requests: ClientRequests): Promise<void> {
  for (const [key, result] of Object.entries(results)) {
    const {requestedSchema: schema} = (requests[key]?.params ?? {}) as {requestedSchema?: Schema}
    if (schema !== undefined && isElicitResult(result)) await answerOf(result, {schema})
  }
}

const isElicitResult = (value: unknown): value is ElicitResult => isObject(value) && typeof value.action === 'string'
