import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import type {GenerateEvent, GenerateSummary, PromptToken, TokenLogprob} from '../llm/index.js'
import type {HttpApp, ReplyStream} from '../net/index.js'

/** Aborts when the client disconnects before the response is complete. */
export function clientGone({raw}: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new SvcError('interrupted', {}))
  })
  return gone.signal
}

/** Adds a route that always returns an error, before the body is read. */
export function refuseRoute(app: HttpApp, url: string, error: () => SvcError): void {
  const onRequest = async () => {
    throw error()
  }
  app.post(url, {onRequest}, async () => undefined)
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

/** Time to wait for the first event before the headers are sent, ms. Later errors are reported within the stream. */
const headerWaitMs = 1000
const pingMs = 10_000

/**
 * Streams a reply. The headers are sent with the first event, so that a rejected request gets an error status. If the
 * first event takes too long, the stream is opened without it and kept open with pings.
 *
 * @param write writes one event
 * @param failed writes an error that interrupts the reply
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
    request.log.warn({err: error, id: request.id}, 'A streamed reply failed.')
    await failed(stream, error)
  } finally {
    clearInterval(pings)
    await events.return()
    stream.end()
  }
}
