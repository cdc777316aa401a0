import {asOllamaError, asOpenAiError, type ErrorRenderer} from '../errors/index.js'
import {createApp, type HttpApp, isExposed, isLoopback, type Listening, listen, metricsType} from '../net/index.js'
import {guardAccess, holdsKey} from './access.js'
import type {ServeContext} from './context.js'
import {ServerMetrics} from './metrics.js'
import {type HostOptions, ModelHost} from './model-host.js'
import {ollamaRoutes} from './ollama/routes.js'
import {openaiRoutes} from './openai/routes.js'
import type {ModelEntry, ServedModel} from './served-model.js'

export interface ServerOptions extends HostOptions {
  address: {host: string; port: number}
  /** Undefined disables authentication. */
  apiKey: string | undefined
  /** Allowed origins of web pages, in addition to those of this machine. */
  origins: readonly string[]
  /** Allowed Host headers, in addition to those of loopback. */
  allowedHosts: readonly string[]
  /** Defaults for omitted fields of a request. */
  maxTokens: number
  temperature: number
  /** System message of conversations without one. */
  system?: string | undefined
  product: string
  /** Adds routes of other modules, with the access rules of this server. */
  mount?: ((app: HttpApp) => Promise<void>) | undefined
  /** Models of those routes. */
  otherModels?: (() => Promise<readonly ModelEntry[]>) | undefined
}

export interface InferenceServer extends Listening {
  model: ServedModel
  /** Whether the directory is the result of a training run. */
  trained: boolean
  /** Whether other machines can reach it without a key. */
  unprotected: boolean
  device: ServeContext['device']
  /**
   * Stops listening, waits up to `drainMs` ms for running replies, then aborts them.
   */
  close(drainMs: number): Promise<void>
}

/** Maximum body size, bytes. */
const bodyLimit = 8 << 20
/** Maximum bytes of JSON per byte of text, and maximum size of the other fields. */
const maxEscaping = 6
const otherFieldsBytes = 1 << 20

/**
 * Loads the model, then opens the port.
 * @throws what `startEngine`, `mount` and `listen` throw
 */
export async function startServer(path: string, options: ServerOptions, signal: AbortSignal): Promise<InferenceServer> {
  const {
    address,
    apiKey,
    origins,
    allowedHosts,
    maxTokens,
    temperature,
    system,
    product,
    mount,
    otherModels,
    ...hostOptions
  } = options
  const host = await ModelHost.start(path, hostOptions, signal)
  const metrics = new ServerMetrics()
  const context: ServeContext = {
    host,
    otherModels: otherModels ?? (async () => []),
    metrics,
    product,
    device: options.device === 'cuda' ? 'cuda:0' : 'cpu',
    promptBodyLimit: Math.min(bodyLimit, maxEscaping * host.maxPromptBytes + otherFieldsBytes),
    defaults: {
      maxTokens,
      temperature,
      numCtx: host.served.contextLength,
      seed: () => Math.floor(Math.random() * 2 ** 32),
    },
    system,
  }
  const loopbackOnly = isLoopback(address.host)
  const app = createApp({
    target: 'serve',
    renderer,
    bodyLimit,
    loopbackOnly,
    allowedHosts,
    hostRemedy: 'allow the host with --allowed-hosts',
  })
  guardAccess(app, {apiKey, origins})
  let closing = false
  // `onResponse` is not called for streams.
  app.addHook('onRequest', async (_request, {raw}) => {
    raw.once('close', () => {
      // 499: the client disconnected before the end of the response.
      metrics.answered(raw.writableFinished ? raw.statusCode : 499)
      if (closing) setImmediate(() => app.server.closeIdleConnections())
    })
  })
  app.get('/', async (_request, reply) => reply.type('text/plain; charset=utf-8').send('svc is running'))
  app.get('/health', async ({headers}) => ({
    status: 'ok',
    ...(holdsKey(headers, apiKey) ? {model: host.served.name} : {}),
    loaded: host.loaded !== undefined,
  }))
  app.get('/metrics', async (_request, reply) => reply.type(metricsType).send(metrics.render(await host.counters())))
  ollamaRoutes(app, context)
  openaiRoutes(app, context)

  const listening = await (async () => {
    await mount?.(app)
    return listen(app, address)
  })().catch(async (error: unknown) => {
    await app.close()
    await host.close()
    throw error
  })
  return {
    ...listening,
    model: host.served,
    trained: host.trained,
    unprotected: isExposed(address.host, apiKey !== undefined),
    device: context.device,
    async close(drainMs) {
      closing = true
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs).unref())
      await Promise.race([drained, timeout])
      await host.close()
      app.server.closeAllConnections()
      await drained
    },
  }
}

const renderer = (path: string): ErrorRenderer => (/^\/v1(\/|$)/.test(path) ? asOpenAiError : asOllamaError)
