import {asOllamaError, asOpenAiError, type ErrorRenderer} from '../errors/index.js'
import {createApp, isLoopback, type Listening, listen} from '../net/index.js'
import {guardAccess, holdsKey} from './access.js'
import type {ServeContext} from './context.js'
import {ServerMetrics} from './metrics.js'
import {type HostOptions, ModelHost} from './model-host.js'
import {ollamaRoutes} from './ollama/routes.js'
import {openaiRoutes} from './openai/routes.js'
import type {ServedModel} from './served-model.js'

export interface ServerOptions extends HostOptions {
  address: {host: string; port: number}
  /** Undefined lets everyone in. */
  apiKey: string | undefined
  /** Origins of web pages that may use the server, beside those of this machine. */
  origins: readonly string[]
  /** Names of this machine that a Host header may have, beside those of loopback. */
  allowedHosts: readonly string[]
  /** What a request gets that does not say. */
  maxTokens: number
  temperature: number
  product: string
}

export interface InferenceServer extends Listening {
  model: ServedModel
  /** Whether a training run left the directory behind. */
  trained: boolean
  /** Whether other machines can reach it without a key. */
  unprotected: boolean
  device: ServeContext['device']
  /**
   * Stops listening and waits for running replies, for at most so many ms; then breaks them off.
   */
  close(drainMs: number): Promise<void>
}

/** Bodies larger than this are refused, bytes. */
const bodyLimit = 8 << 20
/** Bytes of JSON to a byte of text, at the most, and what a body may hold beside its prompt. */
const mostEscaped = 6
const besidePrompt = 1 << 20

/**
 * Loads the model, then opens the port.
 * @throws what `startEngine` and `listen` throw
 */
export async function startServer(path: string, options: ServerOptions, signal: AbortSignal): Promise<InferenceServer> {
  const {address, apiKey, origins, allowedHosts, maxTokens, temperature, product, ...hostOptions} = options
  const host = await ModelHost.start(path, hostOptions, signal)
  const metrics = new ServerMetrics()
  const context: ServeContext = {
    host,
    metrics,
    product,
    device: options.device === 'cuda' ? 'cuda:0' : 'cpu',
    promptBodyLimit: Math.min(bodyLimit, mostEscaped * host.mostPromptBytes + besidePrompt),
    defaults: {
      maxTokens,
      temperature,
      numCtx: host.served.contextLength,
      seed: () => Math.floor(Math.random() * 2 ** 32),
    },
  }
  const loopbackOnly = isLoopback(address.host)
  const app = createApp({target: 'serve', renderer, bodyLimit, loopbackOnly, allowedHosts})
  guardAccess(app, {apiKey, origins})
  let closing = false
  // Not `onResponse`, which streams never reach.
  app.addHook('onRequest', async (_request, {raw}) => {
    raw.once('close', () => {
      // The client has gone before the end of its answer.
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
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.render(await host.counters())),
  )
  ollamaRoutes(app, context)
  openaiRoutes(app, context)

  const listening = await listen(app, address).catch(async (error: unknown) => {
    await host.close()
    throw error
  })
  return {
    ...listening,
    model: host.served,
    trained: host.trained,
    unprotected: apiKey === undefined && !isLoopback(address.host),
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
