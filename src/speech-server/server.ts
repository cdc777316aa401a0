import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import multipart from '@fastify/multipart'
import websocket from '@fastify/websocket'
import type {FastifyReply, FastifyRequest} from 'fastify'
import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import {asAudioError, SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {logger} from '../log/index.js'
import {
  createApp,
  type HttpApp,
  isLoopback,
  type Listening,
  listen,
  loadPage,
  metricsType,
  type TlsOptions,
  type WebPage,
} from '../net/index.js'
import type {SpeechService} from '../speech/index.js'
import {guardAccess, selectProtocol} from './access.js'
import {SpeechMetrics} from './metrics.js'
import {readTranscribeBody, readUploadOptions, recordingPath} from './requests.js'
import {type Connection, maxMessageBytes, streamPath, streamRoute} from './stream.js'
import {formLimits, isPartAFile, receiveUpload} from './upload.js'

export interface SpeechServerOptions {
  address: {host: string; port: number}
  /** The token that clients must send; undefined accepts every client. */
  token: string | undefined
  /** Enables HTTPS. */
  tls?: TlsOptions | undefined
  /** Directory that contains all recordings requested by path. */
  root: string
  /** Maximum size of an uploaded recording, bytes. */
  maxUploadBytes: number
  status(): Promise<SpeechStatusV1>
}

export interface SpeechServer extends Listening {
  /** Method and path of each route. */
  routes: readonly string[]
  /** Stops listening, waits up to `drainMs` for running requests, and closes live sessions. */
  close(drainMs: number): Promise<void>
}

/** Build output of `page/`. */
const pageFolder = join(packageRoot, 'dist', 'src', 'speech-server', 'page')
/** The page plays audio of its own, and the module of its audio thread is part of its script. */
const pageSources = {'script-src': 'blob:', 'media-src': 'blob:'}

/** Maximum size of a JSON body, bytes. */
const bodyLimit = 64 << 10
/** Maximum number of uploads that are received at once. */
const maxUploads = 16

interface Context {
  service: SpeechService
  metrics: SpeechMetrics
  options: SpeechServerOptions
  page: WebPage
  /** Directory for uploads. */
  folder: string
  /** Uploads that are being received. */
  receiving: number
  connections: Set<Connection>
}

/**
 * Serves speech recognition over HTTP and WebSocket. The caller closes the service afterwards.
 * @throws port_in_use, address_unavailable, tls_unusable, write_failed
 */
export async function startSpeechServer(service: SpeechService, options: SpeechServerOptions): Promise<SpeechServer> {
  const {address, token, maxUploadBytes, tls} = options
  const page = await loadPage(pageFolder, pageSources)
  const folder = await mkdtemp(join(tmpdir(), 'svc-speech-')).catch((error: NodeJS.ErrnoException) => {
    throw new SvcError('write_failed', {reason: String(error.code)}, {cause: error})
  })
  const context: Context = {
    service,
    metrics: new SpeechMetrics(),
    options,
    page,
    folder,
    receiving: 0,
    connections: new Set(),
  }
  const app = createApp({
    target: 'speech_server',
    renderer: () => asAudioError,
    bodyLimit,
    loopbackOnly: isLoopback(address.host),
    bodies: 'json',
    headers: {'cache-control': 'no-store'},
    tls,
  })
  const served: string[] = []
  app.addHook('onRoute', ({method, url}) => {
    for (const one of [method].flat()) served.push(`${one} ${url}`)
  })
  guardAccess(app, token)
  await app.register(multipart, {
    limits: {...formLimits, fileSize: maxUploadBytes},
    throwFileSizeLimit: false,
    isPartAFile,
  })
  await app.register(websocket, {
    options: {maxPayload: maxMessageBytes, handleProtocols: selectProtocol},
    // The plugin would wait for clients to answer the close frame.
    preClose: (done: () => void) => done(),
  })
  // Not called for a connection that was upgraded. The HTTP server no longer manages the socket of a refused upgrade.
  app.addHook('onResponse', async ({headers, raw}, {statusCode}) => {
    context.metrics.answered(statusCode)
    if (headers.upgrade !== undefined) raw.socket.destroySoon()
  })
  const listening = await (async () => {
    routes(app, context, () => listening)
    return listen(app, address)
  })().catch(async (error: unknown) => {
    await rm(folder, {recursive: true, force: true})
    throw error
  })
  return {
    ...listening,
    routes: served,
    async close(drainMs) {
      for (const connection of context.connections) connection.shutDown()
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs).unref())
      await Promise.race([drained, timeout])
      for (const connection of context.connections) connection.terminate()
      app.server.closeAllConnections()
      await drained
      await rm(folder, {recursive: true, force: true})
    },
  }
}

function routes(app: HttpApp, context: Context, listening: () => Listening): void {
  const {service, metrics, options, page} = context
  app.get('/', async (_request, reply) => reply.headers(page.headers).type('text/html; charset=utf-8').send(page.html))
  app.get('/health', async () => ({status: 'ok'}))
  app.get('/metrics', async (_request, reply) => reply.type(metricsType).send(metrics.render(service)))
  app.get('/api/audio/status', async () => ({
    ok: true,
    ...(await options.status()),
    model_loaded: service.isLoaded,
    queue_depth: service.queue.pending,
    streaming: {
      transport: 'websocket',
      stream_ws_url: `${listening().baseUrl.replace(/^http/, 'ws')}${streamPath}`,
      input_format: 'pcm_s16le_mono_16khz',
      control_ops: ['set_language', 'commit', 'cancel'],
    },
  }))
  app.post('/api/audio/transcribe', async (request, reply) => {
    const {path, ...body} = await readTranscribeBody(request.body)
    const file = await recordingPath(options.root, path)
    return transcribed(context, request, reply, {path: file}, body)
  })
  const onRequest = async ({headers}: FastifyRequest) => {
    if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? ''))
      throw new SvcError('multipart_read_failed', {reason: 'its content type is not multipart/form-data'})
  }
  app.post('/api/audio/transcribe/upload', {onRequest}, async (request, reply) => {
    const signal = goneSignal(request, reply)
    const upload = await received(context, request, signal)
    try {
      const body = await readUploadOptions(upload.fields)
      return await transcribed(context, request, reply, upload, body, signal)
    } finally {
      await rm(upload.path, {force: true})
    }
  })
  streamRoute(app, context)
}

/** @throws overloaded, and what `receiveUpload` throws */
async function received(context: Context, request: FastifyRequest, signal: AbortSignal) {
  const {service, folder, options} = context
  service.queue.refuseIfFull()
  if (context.receiving >= maxUploads)
    throw new SvcError('overloaded', {reason: `${maxUploads} recordings are already being uploaded.`})
  context.receiving++
  try {
    return await receiveUpload(request, {folder, maxBytes: options.maxUploadBytes, signal})
  } finally {
    context.receiving--
  }
}

async function transcribed(
  {service, metrics}: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  input: {path: string; name?: string},
  {include_segments: includesSegments = false, ...body}: Awaited<ReturnType<typeof readUploadOptions>>,
  signal = goneSignal(request, reply),
): Promise<TranscribeV1> {
  const {segments, ...result} = await service.transcribeInput(input, input.name ?? input.path, body, {
    signal,
    report: () => undefined,
    notice: (text) => logger('speech_server').info({id: request.id}, text),
  })
  metrics.transcribed((result.duration_ms ?? 0) / 1000)
  return includesSegments && segments !== undefined ? {...result, segments} : result
}

/** Aborts when the client disconnects before the response. */
function goneSignal(_request: FastifyRequest, {raw}: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new SvcError('interrupted', {}))
  })
  return gone.signal
}
