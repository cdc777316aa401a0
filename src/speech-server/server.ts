import {join} from 'node:path'
import type {SpeechStatusV1, TranscribeV1} from '../contracts/index.js'
import {asAudioError, asOpenAiError, type ErrorRenderer} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import {
  clientGone,
  createApp,
  type HttpApp,
  isLoopback,
  type Listening,
  listen,
  metricsType,
  type TlsOptions,
} from '../net/index.js'
import {loadPage, type WebPage} from '../pages/index.js'
import type {SpeechService} from '../speech/index.js'
import {guardAccess} from './access.js'
import {callHooks} from './call-hooks.js'
import type {LiveConnection} from './live-connection.js'
import {SpeechMetrics} from './metrics.js'
import {openAiAudioRoutes} from './openai/audio-routes.js'
import {openAiModelRoutes} from './openai/models.js'
import {realtimeRoute} from './openai/realtime.js'
import {readTranscribeBody, readUploadOptions, recordingPath} from './requests.js'
import type {Sessions} from './sessions/sessions.js'
import {acceptWebSockets} from './sockets.js'
import {streamPath, streamRoute} from './stream.js'
import {Uploads} from './upload.js'

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
  /** The live sessions; the server closes them. */
  sessions: Sessions
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

interface Context {
  service: SpeechService
  metrics: SpeechMetrics
  options: SpeechServerOptions
  page: WebPage
  uploads: Uploads
  connections: Set<LiveConnection>
  sessions: Sessions
}

/**
 * Serves speech recognition over HTTP and WebSocket. The caller closes the service afterwards.
 * @throws port_in_use, address_unavailable, tls_unusable, write_failed
 */
export async function startSpeechServer(service: SpeechService, options: SpeechServerOptions): Promise<SpeechServer> {
  const {address, token, maxUploadBytes, tls} = options
  const page = await loadPage(pageFolder, pageSources)
  const app = createApp({
    target: 'speech_server',
    renderer,
    bodyLimit,
    loopbackOnly: isLoopback(address.host),
    hostRemedy: 'accept other machines with --host 0.0.0.0',
    bodies: 'json',
    headers: {'cache-control': 'no-store'},
    tls,
  })
  const served: string[] = []
  app.addHook('onRoute', ({method, url}) => {
    for (const one of [method].flat()) served.push(`${one} ${url}`)
  })
  guardAccess(app, token)
  const context: Context = {
    service,
    metrics: new SpeechMetrics(),
    options,
    page,
    uploads: await Uploads.open(app, service, maxUploadBytes),
    connections: await acceptWebSockets(app),
    sessions: options.sessions,
  }
  // Not called for a connection that was upgraded.
  app.addHook('onResponse', async (_request, {statusCode}) => context.metrics.answered(statusCode))
  const listening = await (async () => {
    routes(app, context, () => listening)
    return listen(app, address)
  })().catch(async (error: unknown) => {
    await app.close()
    throw error
  })
  return {
    ...listening,
    routes: served,
    async close(drainMs) {
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs).unref())
      await Promise.race([drained, timeout])
      for (const connection of context.connections) connection.terminate()
      app.server.closeAllConnections()
      await drained
      await options.sessions.close()
    },
  }
}

const renderer = (path: string): ErrorRenderer => (/^\/v1(\/|$)/.test(path) ? asOpenAiError : asAudioError)

function routes(app: HttpApp, context: Context, listening: () => Listening): void {
  const {service, metrics, options, page, uploads} = context
  app.get('/', async (_request, reply) => reply.headers(page.headers).type('text/html; charset=utf-8').send(page.html))
  app.get('/health', async () => ({status: 'ok'}))
  app.get('/metrics', async (_request, reply) =>
    reply.type(metricsType).send(metrics.render(service, options.sessions.attached)),
  )
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
    return transcribed(context, request.id, {path: file}, body, clientGone(reply))
  })
  app.post('/api/audio/transcribe/upload', {onRequest: uploads.onRequest}, (request, reply) =>
    uploads.with(request, reply, async (upload, signal) =>
      transcribed(context, request.id, upload, await readUploadOptions(upload.fields), signal),
    ),
  )
  streamRoute(app, context)
  const model = async () => (await options.status()).active_model
  openAiModelRoutes(app, model)
  const onTranscribed = (seconds: number) => metrics.transcribed(seconds)
  openAiAudioRoutes(app, {service, uploads, model, onTranscribed})
  realtimeRoute(app, {...context, model, onTranscribed})
}

async function transcribed(
  {service, metrics}: Context,
  id: string,
  input: {path: string; name?: string},
  {include_segments: includesSegments = false, ...body}: Awaited<ReturnType<typeof readUploadOptions>>,
  signal: AbortSignal,
): Promise<TranscribeV1> {
  const {segments, ...result} = await service.transcribeInput(
    input,
    input.name ?? input.path,
    body,
    callHooks(id, signal),
  )
  metrics.transcribed((result.duration_ms ?? 0) / 1000)
  return includesSegments && segments !== undefined ? {...result, segments} : result
}
