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

export interface CollectedReply {
  /** Only with `echo`. */
  prompt?: {text: string; logprobs?: PromptToken[]}
  text: string
  logprobs?: TokenLogprob[]
  summary: GenerateSummary
}

/** Collects the events of one reply. */
export class ReplyCollector {
  readonly #reply: Omit<CollectedReply, 'summary'> = {text: ''}
  #summary: GenerateSummary | undefined

  add(event: GenerateEvent): void {
    if (event.type === 'done') this.#summary = event
    else if (event.type === 'prompt') this.#reply.prompt = event
    else {
      this.#reply.text += event.text
      if (event.logprobs !== undefined) this.#reply.logprobs = [...(this.#reply.logprobs ?? []), ...event.logprobs]
    }
  }

  reply(): CollectedReply {
    if (this.#summary === undefined) throw new Error('The engine ended without a summary.')
    return {...this.#reply, summary: this.#summary}
  }
}

export async function collect(events: AsyncIterable<GenerateEvent>): Promise<CollectedReply> {
  const collector = new ReplyCollector()
  for await (const event of events) collector.add(event)
  return collector.reply()
}
