import {randomUUID} from 'node:crypto'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {asOpenAiError, SvcError} from '../../errors/index.js'
import type {GenerateEvent, GenerateRequest, GenerateSummary} from '../../llm/index.js'
import {clientGone, type HttpApp, type ReplyStream, sseStream, streamEvents} from '../../net/index.js'
import {requireAbilities} from '../abilities.js'
import type {Admission} from '../admission.js'
import {generate, requestedModel, type ServeContext, stateReceipt} from '../context.js'
import type {RequestDefaults} from '../defaults.js'
import {logUnknown, ReplyCollector, refuseRoute} from '../reply.js'
import {type OpenAiRequest, readChatCompletion} from './chat-request.js'
import {chatCall, chatCompletion, chatDelta, chatEnd, chatOpening, chatThinking, chatUsage} from './chat-response.js'
import {readCompletion} from './completion-request.js'
import {
  charactersIn,
  charactersOf,
  completion,
  completionDelta,
  completionEnd,
  completionPrompt,
  completionUsage,
} from './completion-response.js'
import {modelEntry, modelList} from './model.js'
import type {Choice, PromptText, ReplyHead, ReplyText, StreamHead} from './reply.js'

/** Request and reply formats of one of the two generation routes. */
interface Wire {
  prefix: string
  read(body: unknown, defaults: RequestDefaults): OpenAiRequest
  /** @param n choices per prompt */
  complete(head: ReplyHead, choices: readonly Choice[], n: number): object
  /** Writes the first chunk of a choice; undefined if there is none. */
  opening: ((head: StreamHead, index: number) => object) | undefined
  /** Writes the prompt of a choice; undefined if the API has no `echo`. */
  prompt: ((head: StreamHead, index: number, prompt: PromptText) => object) | undefined
  /** Writes the text chunks of one choice. @param offset characters of the prompt before them, with `echo` */
  deltas(head: StreamHead, index: number, offset: number): (text: ReplyText) => object
  /** Writes thinking and calls; undefined if the API has none. */
  thinking: ((head: StreamHead, index: number, text: string) => object) | undefined
  call: typeof chatCall | undefined
  end(head: StreamHead, index: number, summary: GenerateSummary): object
  usage(head: StreamHead, summaries: readonly GenerateSummary[], n: number): object
}

const chatWire: Wire = {
  prefix: 'chatcmpl',
  read: readChatCompletion,
  complete: chatCompletion,
  opening: chatOpening,
  prompt: undefined,
  deltas: (head, index) => (text) => chatDelta(head, index, text),
  thinking: chatThinking,
  call: chatCall,
  end: chatEnd,
  usage: chatUsage,
}

const completionWire: Wire = {
  prefix: 'cmpl',
  read: readCompletion,
  complete: completion,
  opening: undefined,
  prompt: completionPrompt,
  deltas(head, index, offset) {
    let at = offset
    return (text) => {
      const chunk = completionDelta(head, index, text, at)
      at += charactersIn(text.logprobs ?? [])
      return chunk
    }
  },
  thinking: undefined,
  call: undefined,
  end: completionEnd,
  usage: completionUsage,
}

/** The routes of the OpenAI API. */
export function openaiRoutes(app: HttpApp, context: ServeContext): void {
  const {models, otherModels, promptBodyLimit: bodyLimit} = context
  app.get('/v1/models', async () => modelList([...(await models.list()).map(modelEntry), ...(await otherModels())]))
  app.get<{Params: {id: string}}>('/v1/models/:id', async ({params: {id}}) => {
    const other = (await otherModels()).find((entry) => entry.id === id)
    const found = await models.find(id).catch((error: unknown) => {
      if (other === undefined) throw error
      return undefined
    })
    return found === undefined ? other : modelEntry(found.served)
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
  const host = await context.models.find(requestedModel(request.body))
  const parsed = wire.read(request.body, host.requestDefaults)
  requireAbilities(host.served, parsed.requires)
  logUnknown(request, parsed)
  const gone = clientGone(reply)
  const admission = await host.admit(gone, parsed.keepAlive)
  try {
    const head: StreamHead = {
      id: `${wire.prefix}-${randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: parsed.model ?? host.name,
      systemFingerprint: admission.fingerprint,
      includeUsage: parsed.includeUsage,
    }
    const requests = seeded(parsed)
    stateReceipt(reply, admission, requests[0] as GenerateRequest)
    const events = replies(context, admission, requests, gone)
    if (parsed.stream) {
      await stream(events, writer(wire, head, parsed, requests.length), request, reply)
      return reply
    }
    const collectors = requests.map(() => new ReplyCollector())
    for await (const {index, event} of events) collectors[index]?.add(event)
    const choices = collectors.map((collector) => collector.reply())
    return wire.complete(head, choices, parsed.n)
  } finally {
    admission.release()
  }
}

const stream = (
  events: ReturnType<typeof replies>,
  write: ReturnType<typeof writer>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> =>
  streamEvents(
    events,
    () => sseStream(reply),
    write,
    (output, error) => output.write(asOpenAiError(SvcError.from(error))),
    request,
  )

/** Repeats each request `n` times, with consecutive seeds. */
const seeded = ({n, requests}: OpenAiRequest): GenerateRequest[] =>
  requests
    .flatMap((request) => Array.from({length: n}, () => request))
    .map((request, i) => ({...request, sampling: {...request.sampling, seed: (request.sampling.seed + i) % 2 ** 32}}))

interface Indexed {
  index: number
  event: GenerateEvent
}

/** Maximum replies of a request that are running or queued at the same time. */
const maxConcurrent = 8

/** Merges the events of several replies. If one fails or the iteration ends, the others are cancelled. */
async function* replies(
  context: ServeContext,
  admission: Admission,
  requests: readonly GenerateRequest[],
  gone: AbortSignal,
) {
  const ended = new AbortController()
  const signal = AbortSignal.any([gone, ended.signal])
  const all = requests.map((request) => generate(context, admission, request, signal))
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
        yield {index, event: result.value} satisfies Indexed
      }
    }
  } finally {
    for (const promise of pending.values()) promise.catch(() => {})
    ended.abort(new SvcError('interrupted', {}))
    await Promise.all(all.map((reply) => reply.return().catch(() => {})))
  }
}

async function writeIfAny(stream: ReplyStream, chunk: object | undefined): Promise<void> {
  if (chunk !== undefined) await stream.write(chunk)
}

/** @param count number of choices of all prompts */
function writer(wire: Wire, head: StreamHead, {n, includeUsage}: OpenAiRequest, count: number) {
  const deltas = Array.from({length: count}, (_, index) => wire.deltas(head, index, 0))
  const opened = new Set<number>()
  const summaries: GenerateSummary[] = []
  let ended = 0
  return async (stream: ReplyStream, {index, event}: Indexed): Promise<void> => {
    if (!opened.has(index) && wire.opening !== undefined) await stream.write(wire.opening(head, index))
    opened.add(index)
    if (event.type === 'prompt') {
      deltas[index] = wire.deltas(head, index, charactersOf(event.text))
      if (wire.prompt !== undefined) await stream.write(wire.prompt(head, index, event))
      return
    }
    if (event.type === 'text') return stream.write((deltas[index] as (text: ReplyText) => object)(event))
    if (event.type === 'thinking') return writeIfAny(stream, wire.thinking?.(head, index, event.text))
    if (event.type !== 'done') return writeIfAny(stream, wire.call?.(head, index, event))
    summaries[index] = event
    await stream.write(wire.end(head, index, event))
    if (++ended < count) return
    if (includeUsage) await stream.write(wire.usage(head, summaries, n))
    await stream.write('[DONE]')
  }
}
