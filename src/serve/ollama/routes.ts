import type {FastifyReply, FastifyRequest} from 'fastify'
import {asOllamaError, SvcError} from '../../errors/index.js'
import type {GenerateEvent} from '../../llm/index.js'
import {clientGone, type HttpApp, ndjsonStream, streamEvents} from '../../net/index.js'
import {requireAbilities} from '../abilities.js'
import type {Admission} from '../admission.js'
import {generate, requestedModel, type ServeContext, stateReceipt} from '../context.js'
import type {RequestDefaults} from '../defaults.js'
import type {ModelService} from '../model-host.js'
import {CallCollector, collect, logUnknown, refuseRoute} from '../reply.js'
import {managementRoutes} from './management.js'
import {ps, readShow, show, tags, version} from './model.js'
import {type OllamaRequest, readChat, readGenerate} from './request.js'
import * as response from './response.js'

/** Request and reply formats of one of the two generation routes. */
interface Wire {
  read(body: unknown, defaults: RequestDefaults): OllamaRequest
  loaded(head: response.ReplyHead, reason: 'load' | 'unload'): object
  chunk(head: response.ReplyHead, text: response.ReplyText): object
  end(head: response.ReplyHead, end: response.ReplyEnd, parsed: OllamaRequest): object
}

const chatWire: Wire = {
  read: readChat,
  loaded: response.chatLoaded,
  chunk: response.chatChunk,
  end: response.chatEnd,
}

const generateWire: Wire = {
  read: readGenerate,
  loaded: response.generateLoaded,
  chunk: response.generateChunk,
  end: (head, end, {request}) => response.generateEnd(head, end, {raw: request.prompt.kind !== 'chat'}),
}

export function ollamaRoutes(app: HttpApp, context: ServeContext): void {
  const {models, product, device, promptBodyLimit: bodyLimit} = context
  app.get('/api/version', async () => version(product, device))
  app.get('/api/tags', async () => tags(await models.list()))
  app.get('/api/ps', async () => {
    const loaded = models.loaded.map(({served: model, loaded: {expiresAt} = {expiresAt: new Date()}}) => ({
      model,
      device,
      expiresAt,
    }))
    // Adapters leave the memory with their model at the latest.
    const {expiresAt = 'forever'} = models.first?.loaded ?? {}
    const adapters = (await models.loadedAdapters()).map((model) => ({model, device, expiresAt}))
    return ps([...loaded, ...adapters])
  })
  app.post('/api/show', async ({body}) => {
    const {name, verbose} = readShow(body)
    return show((await models.find(name)).served, {verbose})
  })
  app.post('/api/chat', (request, reply) => answer(context, chatWire, request, reply))
  app.post('/api/generate', {bodyLimit}, (request, reply) => answer(context, generateWire, request, reply))
  managementRoutes(app, context)
  refuseRoute(app, '/api/embeddings', () => new SvcError('not_implemented', {what: 'embeddings are'}))
  refuseRoute(app, '/api/embed', () => new SvcError('bad_request', {reason: 'this server does not support embeddings'}))
}

async function answer(
  context: ServeContext,
  wire: Wire,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const started = performance.now()
  const host = await context.models.find(requestedModel(request.body))
  const parsed = wire.read(request.body, host.requestDefaults)
  const model = parsed.model ?? host.name
  const head = () => ({model, createdAt: new Date()})
  requireAbilities(host.served, parsed.requires)
  logUnknown(request, parsed)
  if (parsed.load) return wire.loaded(head(), await loadOrUnload(host, parsed))

  const gone = clientGone(reply)
  const admission = await host.admit(gone, parsed.keepAlive)
  try {
    return await deliver({context, wire, request, reply}, {admission, parsed, head, started, gone})
  } finally {
    admission.release()
  }
}

interface Exchange {
  context: ServeContext
  wire: Wire
  request: FastifyRequest
  reply: FastifyReply
}

interface Admitted {
  admission: Admission
  parsed: OllamaRequest
  head: () => response.ReplyHead
  /** Arrival of the request. */
  started: number
  gone: AbortSignal
}

/** Sends the reply of an admitted request, complete or as a stream. */
async function deliver(
  {context, wire, request, reply}: Exchange,
  {admission, parsed, head, started, gone}: Admitted,
): Promise<unknown> {
  const generated = {...parsed.request, contextLength: parsed.numCtx}
  stateReceipt(reply, admission, generated)
  const events = generate(context, admission, generated, gone)
  const {loadMs} = admission
  const ending = (summary: response.ReplyEnd['summary']) => ({summary, loadMs, totalMs: performance.now() - started})
  if (!parsed.stream) {
    const {summary, ...text} = await collect(events)
    return wire.end(head(), {...ending(summary), reply: text}, parsed)
  }
  const calls = new CallCollector()
  await streamEvents<GenerateEvent>(
    events,
    () => ndjsonStream(reply),
    async (stream, event) => {
      if (event.type === 'done') return stream.write(wire.end(head(), ending(event), parsed))
      const part = partOf(event, calls)
      if (part !== undefined) return stream.write(wire.chunk(head(), part))
    },
    (stream, error) => stream.write(asOllamaError(SvcError.from(error))),
    request,
  )
  return reply
}

/** What a chunk has of an event; undefined if it has nothing. Calls are written when they are complete. */
function partOf(event: GenerateEvent, calls: CallCollector): response.ReplyText | undefined {
  if (event.type === 'text') return event
  if (event.type === 'thinking') return {text: '', thinking: event.text}
  const call = event.type === 'call' || event.type === 'arguments' ? calls.add(event) : undefined
  return call && {text: '', calls: [call]}
}

async function loadOrUnload(host: ModelService, {keepAlive}: OllamaRequest): Promise<'load' | 'unload'> {
  if (keepAlive === 0) {
    await host.unload()
    return 'unload'
  }
  await host.load(keepAlive)
  return 'load'
}
