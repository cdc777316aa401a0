import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import type {GenerateEvent, GenerateSummary, PromptToken, TokenLogprob} from '../llm/index.js'
import type {HttpApp, ReplyStream} from '../net/index.js'

/** Aborts when the client disconnects before its answer is complete. That is no fault of the server. */
export function clientGone({raw}: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new SvcError('interrupted', {}))
  })
  return gone.signal
}

/** A route that answers nothing but an error: before the body is read, as it is the same whatever that holds. */
export function refuseRoute(app: HttpApp, url: string, error: () => SvcError): void {
  const onRequest = async () => {
    throw error()
  }
  app.post(url, {onRequest}, async () => undefined)
}

export interface CollectedReply {
  /** Where it was asked for. */
  prompt?: {text: string; logprobs?: PromptToken[]}
  text: string
  logprobs?: TokenLogprob[]
  summary: GenerateSummary
}

/** Puts the events of one reply together. */
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

/** How long a failure can still be told by a status, ms; after that the stream begins, and failures go into it. */
const headerWaitMs = 1000
const pingMs = 10_000

/**
 * Streams a reply. Its head goes out with the first event, so that a request which is refused gets a status of its own;
 * where the first event takes long, the stream begins without it and is kept open by pings.
 *
 * @param write tells one event; @param failed tells that the reply has broken off
 */
export async function streamEvents<T>(
  events: AsyncGenerator<T, void, undefined>,
  open: () => ReplyStream,
  write: (stream: ReplyStream, event: T) => Promise<void>,
  failed: (stream: ReplyStream, error: unknown) => Promise<void>,
  request: FastifyRequest,
): Promise<void> {
  const first = events.next()
  first.catch(() => {})
  await Promise.race([first, new Promise((resolve) => setTimeout(resolve, headerWaitMs).unref())])
  const stream = open()
  const pings = setInterval(() => stream.ping(), pingMs)
  try {
    for (let next = await first; next.done !== true; next = await events.next()) await write(stream, next.value)
  } catch (error) {
    if (stream.gone.aborted) return
    request.log.warn({err: error, id: request.id}, 'A reply has broken off.')
    await failed(stream, error)
  } finally {
    clearInterval(pings)
    await events.return()
    stream.end()
  }
}
