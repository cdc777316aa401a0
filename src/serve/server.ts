import {asAnthropicError, asOllamaError, asOpenAiError, type ErrorRenderer} from '../errors/index.js'
import {createApp, type HttpApp, isExposed, isLoopback, type Listening, listen, metricsType} from '../net/index.js'
import {guardAccess} from './access.js'
import {adapterRoutes} from './adapter-routes.js'
import {anthropicRoutes} from './anthropic/routes.js'
import type {ClientKey} from './api-keys.js'
import {Clients} from './clients.js'
import type {ServeContext} from './context.js'
import {ServerMetrics} from './metrics.js'
import type {ModelManagement} from './model-management.js'
import {ModelPool, type PoolOptions} from './model-pool.js'
import {ollamaRoutes} from './ollama/routes.js'
import {openaiRoutes} from './openai/routes.js'
import type {ModelEntry, ServedModel} from './served-model.js'

export interface ServerOptions extends PoolOptions {
  address: {host: string; port: number}
  /** Clients that may use the server. Without any, authentication is disabled, and tokens in requests are ignored. */
  keys: readonly ClientKey[]
  /** Key for changes of the adapters; undefined refuses them. */
  adminKey?: string | undefined
  /** Allowed origins of web pages, in addition to those of this machine. */
  origins: readonly string[]
  /** Allowed Host headers, in addition to those of loopback. */
  allowedHosts: readonly string[]
  /** Lets clients download and delete models. */
  management?: ModelManagement | undefined
  product: string
  /** Adds routes of other modules, with the access rules of this server. */
  mount?: ((app: HttpApp) => Promise<void>) | undefined
  /** Models of those routes. */
  otherModels?: (() => Promise<readonly ModelEntry[]>) | undefined
}

export interface InferenceServer extends Listening {
  /** The model that was loaded at the start. */
  model: ServedModel | undefined
  /** Whether it has adapters by name. */
  hasAdapters: boolean
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
 * Loads the first model, if there is one, then opens the port.
 * @throws what `startEngine`, `mount` and `listen` throw
 */
export async function startServer(options: ServerOptions, signal: AbortSignal): Promise<InferenceServer> {
  const {address, keys, adminKey, origins, allowedHosts, product, mount, otherModels, management, ...poolOptions} =
    options
  const models = await ModelPool.start(poolOptions, signal)
  const {first} = models
  const clients = new Clients(keys)
  const metrics = new ServerMetrics(clients.areRequired ? clients.all : [])
  const context: ServeContext = {
    clients,
    models,
    management,
    otherModels: otherModels ?? (async () => []),
    metrics,
    product,
    device: options.device === 'cuda' ? 'cuda:0' : 'cpu',
    promptBodyLimit: options.servesOthers || first === undefined ? bodyLimit : promptLimit(first.maxPromptBytes),
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
  guardAccess(app, {clients, adminKey, origins})
  let closing = false
  // `onResponse` is not called for streams.
  app.addHook('onRequest', async (_request, {raw}) => {
    raw.once('close', () => {
      // 499: the client disconnected before the end of the response.
      metrics.answered(raw.writableFinished ? raw.statusCode : 499)
      if (closing) setImmediate(() => app.server.closeIdleConnections())
    })
  })
  const renderMetrics = async () =>
    metrics.render(await models.counters(), {count: models.loaded.length, bytes: models.usedBytes})
  app.get('/', async (_request, reply) => reply.type('text/plain; charset=utf-8').send('svc is running'))
  app.get('/health', async ({headers}) => ({
    status: 'ok',
    ...(clients.of(headers) !== undefined && first !== undefined ? {model: first.name} : {}),
    loaded: models.loaded.length > 0,
  }))
  app.get('/metrics', async (_request, reply) => reply.type(metricsType).send(await renderMetrics()))
  ollamaRoutes(app, context)
  openaiRoutes(app, context)
  adapterRoutes(app, context, adminKey)
  anthropicRoutes(app, context)

  const listening = await (async () => {
    await mount?.(app)
    return listen(app, address)
  })().catch(async (error: unknown) => {
    await app.close()
    await models.close()
    throw error
  })
  return {
    ...listening,
    model: first?.served,
    hasAdapters: options.adapters !== undefined,
    unprotected: isExposed(address.host, clients.areRequired),
    device: context.device,
    async close(drainMs) {
      closing = true
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs).unref())
      await Promise.race([drained, timeout])
      await models.close()
      app.server.closeAllConnections()
      await drained
    },
  }
}

const promptLimit = (maxPromptBytes: number) => Math.min(bodyLimit, maxEscaping * maxPromptBytes + otherFieldsBytes)

function renderer(path: string): ErrorRenderer {
  if (/^\/v1\/messages(\/|$)/.test(path)) return asAnthropicError
  return /^\/v1(\/|$)/.test(path) ? asOpenAiError : asOllamaError
}
