import type {FastifyRequest} from 'fastify'
import type {SvcError} from '../errors/index.js'
import type {GenerateEvent, GenerateSummary, PromptToken, TokenLogprob} from '../llm/index.js'
import type {HttpApp} from '../net/index.js'

/** Adds a route that always returns an error, before the body is read. */
export function refuseRoute(app: HttpApp, url: string, error: () => SvcError): void {
  const onRequest = async () => {
    throw error()
  }
  app.post(url, {onRequest}, async () => undefined)
}

export function logUnknown({log, id}: FastifyRequest, {unknown}: {unknown: readonly string[]}): void {
  if (unknown.length > 0) log.info({fields: unknown, id}, 'Ignored unknown fields.')
}

/** A call of a tool, with its arguments as a JSON text. */
export interface ToolCallReply {
  id: string
  name: string
  arguments: string
}

export interface CollectedReply {
  /** Only with `echo`. */
  prompt?: {text: string; logprobs?: PromptToken[]}
  /** What the model thought. */
  thinking?: string
  text: string
  calls?: ToolCallReply[]
  /** A call whose arguments were truncated. */
  truncated?: ToolCallReply
  logprobs?: TokenLogprob[]
  summary: GenerateSummary
}

/** Collects the events of calls. */
export class CallCollector {
  #call: ToolCallReply | undefined

  /** The call that is not complete yet. */
  get pending(): ToolCallReply | undefined {
    return this.#call
  }

  /** @returns the call that the event completes */
  add(event: Extract<GenerateEvent, {type: 'call' | 'arguments'}>): ToolCallReply | undefined {
    if (event.type === 'call') this.#call = {id: event.id, name: event.name, arguments: ''}
    else if (this.#call !== undefined) {
      this.#call.arguments += event.text
      if (event.isLast) {
        const call = this.#call
        this.#call = undefined
        return call
      }
    }
    return undefined
  }
}

/** Collects the events of one reply. */
export class ReplyCollector {
  readonly #reply: Omit<CollectedReply, 'summary'> = {text: ''}
  readonly #calls = new CallCollector()
  #summary: GenerateSummary | undefined

  add(event: GenerateEvent): void {
    switch (event.type) {
      case 'done':
        this.#summary = event
        return
      case 'prompt':
        this.#reply.prompt = event
        return
      case 'thinking':
        this.#reply.thinking = (this.#reply.thinking ?? '') + event.text
        return
      case 'text':
        this.#reply.text += event.text
        if (event.logprobs !== undefined) this.#reply.logprobs = [...(this.#reply.logprobs ?? []), ...event.logprobs]
        return
      default: {
        const call = this.#calls.add(event)
        if (call !== undefined) this.#reply.calls = [...(this.#reply.calls ?? []), call]
      }
    }
  }

  reply(): CollectedReply {
    if (this.#summary === undefined) throw new Error('The engine ended without a summary.')
    const truncated = this.#calls.pending
    return {...this.#reply, ...(truncated === undefined ? {} : {truncated}), summary: this.#summary}
  }
}
