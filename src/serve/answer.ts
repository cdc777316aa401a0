import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import type {GenerateEvent, GenerateRequest} from '../llm/index.js'
import {clientGone, type ReplyStream, streamEvents} from '../net/index.js'
import {requireAbilities} from './abilities.js'
import {deliverAdmitted, type Generating, generate, requestedModel, type ServeContext} from './context.js'
import type {Dialect, DialectRequest} from './dialect.js'
import {type CollectedReply, logUnknown, ReplyCollector} from './reply.js'

/** Answers a request of a route that generates text, as a stream or as one object. */
export async function answer<R extends DialectRequest>(
  context: ServeContext,
  dialect: Dialect<R>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const started = performance.now()
  const host = await context.models.find(requestedModel(request.body))
  const parsed = dialect.read(request.body, host.requestDefaults)
  requireAbilities(host.served, parsed.requires)
  logUnknown(request, parsed)
  const model = parsed.model ?? host.name
  const other = dialect.withoutReply?.(parsed, host, model)
  if (other !== undefined) return other

  const gone = clientGone(reply)
  const admission = await host.admit(gone, parsed.keepAlive)
  const {fingerprint, loadMs} = admission
  const info = {model, fingerprint, started, loadMs}
  const requests = dialect.requestsOf(parsed)
  return deliverAdmitted(reply, admission, requests[0], async () => {
    reply.headers(parsed.headers ?? {})
    const client = context.clients.assigned(request)
    const events = replies({context, admission, client}, requests, gone)
    if (!parsed.stream) return dialect.whole(parsed, info, await collectAll(events, requests.length))
    const writer = dialect.writer(parsed, info, requests.length)
    await streamEvents(
      events,
      () => dialect.open(reply),
      (stream, {index, event}) => writeAll(stream, writer.write(event, index)),
      (stream, error) => writeAll(stream, writer.failed(SvcError.from(error))),
      request,
    )
    return reply
  })
}

async function collectAll(events: AsyncIterable<Indexed>, count: number): Promise<CollectedReply[]> {
  const collectors = Array.from({length: count}, () => new ReplyCollector())
  for await (const {index, event} of events) collectors[index]?.add(event)
  return collectors.map((collector) => collector.reply())
}

async function writeAll(stream: ReplyStream, values: Iterable<unknown>): Promise<void> {
  for (const value of values) await stream.write(value)
}

interface Indexed {
  /** Of the reply. */
  index: number
  event: GenerateEvent
}

/** The events of all replies. */
async function* replies(
  generating: Generating,
  requests: readonly GenerateRequest[],
  gone: AbortSignal,
): AsyncGenerator<Indexed, void, undefined> {
  const [only] = requests
  if (only === undefined || requests.length > 1) return yield* mergedReplies(generating, requests, gone)
  for await (const event of generate(generating, only, gone)) yield {index: 0, event}
}

/** Maximum replies of a request that are running or queued at the same time. */
const maxConcurrent = 8

/** Merges the events of several replies. If one fails or the iteration ends, the others are cancelled. */
async function* mergedReplies(
  generating: Generating,
  requests: readonly GenerateRequest[],
  gone: AbortSignal,
): AsyncGenerator<Indexed, void, undefined> {
  const ended = new AbortController()
  const signal = AbortSignal.any([gone, ended.signal])
  const all = requests.map((request) => generate(generating, request, signal))
  const pending = new Map<number, Promise<{index: number; result: IteratorResult<GenerateEvent, void>}>>()
  const advance = (index: number) => {
    const next = all[index]?.next().then((result) => ({index, result}))
    if (next !== undefined) pending.set(index, next)
  }
  let started = Math.min(maxConcurrent, all.length)
  for (let index = 0; index < started; index++) advance(index)
  try {
    while (pending.size > 0) {
      const {index, result} = await Promise.race(pending.values())
      pending.delete(index)
      if (result.done === true) advance(started++)
      else {
        advance(index)
        yield {index, event: result.value}
      }
    }
  } finally {
    for (const promise of pending.values()) promise.catch(() => {})
    ended.abort(new SvcError('interrupted', {}))
    await Promise.all(all.map((reply) => reply.return().catch(() => {})))
  }
}
