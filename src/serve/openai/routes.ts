import {randomUUID} from 'node:crypto'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {asOpenAiError, SvcError} from '../../errors/index.js'
import type {GenerateEvent, GenerateRequest, GenerateSummary} from '../../llm/index.js'
import {type HttpApp, type ReplyStream, sseStream} from '../../net/index.js'
import {generate, type ServeContext} from '../context.js'
import {clientGone, collect, refuseRoute, streamEvents} from '../reply.js'
import {type OpenAiRequest, readChatCompletion} from './chat-request.js'
import {chatCompletion, chatDelta, chatEnd, chatOpening, chatUsage} from './chat-response.js'
import {readCompletion} from './completion-request.js'
import {charactersIn, completion, completionDelta, completionEnd, completionUsage} from './completion-response.js'
import {modelEntry, modelList} from './model.js'
import {type Choice, type ReplyHead, type ReplyText, type StreamHead, systemFingerprint} from './reply.js'
import type {OpenAiDefaults} from './sampling.js'

/** How one of the two generating routes writes its replies. */
interface Wire {
  prefix: string
  read(body: unknown, defaults: OpenAiDefaults): OpenAiRequest
  whole(head: ReplyHead, choices: readonly Choice[]): object
  /** Undefined where a stream has no opening. */
  opening: ((head: StreamHead, index: number) => object) | undefined
  /** Writes the pieces of one choice. */
  deltas(head: StreamHead, index: number): (text: ReplyText) => object
  end(head: StreamHead, index: number, summary: GenerateSummary): object
  usage(head: StreamHead, summaries: readonly GenerateSummary[]): object
}

const chatWire: Wire = {
  prefix: 'chatcmpl',
  read: readChatCompletion,
  whole: chatCompletion,
  opening: chatOpening,
  deltas: (head, index) => (text) => chatDelta(head, index, text),
  end: chatEnd,
  usage: chatUsage,
}

const completionWire: Wire = {
  prefix: 'cmpl',
  read: readCompletion,
  whole: completion,
  opening: undefined,
  deltas(head, index) {
    let offset = 0
    return (text) => {
      const chunk = completionDelta(head, index, text, offset)
      offset += charactersIn(text.logprobs ?? [])
      return chunk
    }
  },
  end: completionEnd,
  usage: completionUsage,
}

/** The routes of OpenAI's dialect. */
export function openaiRoutes(app: HttpApp, context: ServeContext): void {
  const {host, promptBodyLimit: bodyLimit} = context
  app.get('/v1/models', async () => modelList([host.served]))
  app.get<{Params: {id: string}}>('/v1/models/:id', async ({params}) => {
    host.resolve(params.id)
    return modelEntry(host.served)
  })
  app.post('/v1/chat/completions', {bodyLimit}, (request, reply) => answer(context, chatWire, request, reply))
  app.post('/v1/completions', {bodyLimit}, (request, reply) => answer(context, completionWire, request, reply))
  refuseRoute(
    app,
    '/v1/embeddings',
    () => new SvcError('unsupported_value', {reason: 'this server does not support embeddings', param: 'input'}),
  )
}

async function answer(
  context: ServeContext,
  wire: Wire,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const asked = wire.read(request.body, context.defaults)
  const head: StreamHead = {
    id: `${wire.prefix}-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: context.host.resolve(asked.model),
    systemFingerprint: systemFingerprint(context.product, context.device === 'cpu' ? 'cpu' : 'cuda'),
    includeUsage: asked.includeUsage,
  }
  const gone = clientGone(reply)
  const choices = seeded(asked).map((one) => generate(context, one, gone))
  if (!asked.stream) return wire.whole(head, await Promise.all(choices.map(collect)))
  await streamEvents(
    merge(choices),
    () => sseStream(reply),
    writer(wire, head, asked),
    (stream, error) => stream.write(asOpenAiError(SvcError.from(error))),
    request,
  )
  return reply
}

/** The request once for each choice, with seeds that count up. */
const seeded = ({n, request}: OpenAiRequest): GenerateRequest[] =>
  Array.from({length: n}, (_, i) => ({
    ...request,
    sampling: {...request.sampling, seed: (request.sampling.seed + i) % 2 ** 32},
  }))

interface Indexed {
  index: number
  event: GenerateEvent
}

/** Events of several replies as they come. */
async function* merge(replies: readonly AsyncGenerator<GenerateEvent, void, undefined>[]) {
  const next = (index: number) =>
    (replies[index] as (typeof replies)[number]).next().then((result) => ({index, result}))
  const pending = new Map(replies.map((_, index) => [index, next(index)]))
  try {
    while (pending.size > 0) {
      const {index, result} = await Promise.race(pending.values())
      if (result.done === true) pending.delete(index)
      else {
        pending.set(index, next(index))
        yield {index, event: result.value} satisfies Indexed
      }
    }
  } finally {
    for (const promise of pending.values()) promise.catch(() => {})
    await Promise.all(replies.map((reply) => reply.return().catch(() => {})))
  }
}

function writer(wire: Wire, head: StreamHead, {n, includeUsage}: OpenAiRequest) {
  const deltas = Array.from({length: n}, (_, index) => wire.deltas(head, index))
  const opened = new Set<number>()
  const summaries: GenerateSummary[] = []
  return async (stream: ReplyStream, {index, event}: Indexed): Promise<void> => {
    if (!opened.has(index) && wire.opening !== undefined) await stream.write(wire.opening(head, index))
    opened.add(index)
    if (event.type === 'text') return stream.write((deltas[index] as (text: ReplyText) => object)(event))
    summaries.push(event)
    await stream.write(wire.end(head, index, event))
    if (summaries.length < n) return
    if (includeUsage) await stream.write(wire.usage(head, summaries))
    await stream.write('[DONE]')
  }
}
