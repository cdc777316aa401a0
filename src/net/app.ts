import {randomUUID} from 'node:crypto'
import type {IncomingMessage} from 'node:http'
import type {ServerOptions} from 'node:https'
import type {AddressInfo, Socket} from 'node:net'
import {createSecureContext, Server as TlsServer} from 'node:tls'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import {type ErrorRenderer, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {isLoopback} from './loopback.js'
import {readBodiesAsJson, readBodiesAsText, readJsonBodies} from './request-body.js'
import {collectMethods} from './routes.js'

export type HttpApp = FastifyInstance

export interface AppOptions {
  target: string
  /** How the errors of a route are written, by its path. */
  renderer(path: string): ErrorRenderer
  /** Largest body, bytes. */
  bodyLimit?: number
  /** Longest a client may take to send its request, ms. */
  requestTimeoutMs?: number
  /** Longest a client may take to send the head of its request, ms. */
  headersTimeoutMs?: number
  /** Answer only requests whose Host is this machine: a page of another origin cannot rebind its name to reach us. */
  loopbackOnly?: boolean
  /** Names that count as this machine's with `loopbackOnly`. */
  allowedHosts?: readonly string[]
  /**
   * `parsed`: JSON whatever the content type says. `json`: the value of a body that must say it is JSON, undefined where
   * there is none. `text`: the text of such a body.
   */
  bodies?: 'parsed' | 'json' | 'text'
  /** Headers of every answer. */
  headers?: Readonly<Record<string, string>>
  /** Speak HTTPS. */
  tls?: TlsOptions | undefined
}

export interface TlsOptions {
  /** The chain of certificates and the private key, in PEM. */
  cert: string
  key: string
  /** Oldest version that is spoken. */
  minVersion: '1.2' | '1.3'
}

/** Longest part of a path that a parameter takes, characters. */
const longestParameter = 1024

const requestIdForm = /^[\w.:-]{1,128}$/

/**
 * A fastify app with the manners every server here has: a request id on each answer, bodies read as JSON, limits, and
 * every failure answered by a row of the error catalogue in the dialect of its path.
 * @throws tls_unusable
 */
export function createApp(options: AppOptions): HttpApp {
  const {
    target,
    renderer,
    bodyLimit = 8 << 20,
    requestTimeoutMs = 60_000,
    headersTimeoutMs = Math.min(15_000, requestTimeoutMs),
    loopbackOnly = true,
    allowedHosts = [],
    bodies = 'parsed',
    headers = {},
    tls,
  } = options
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()))
  let lastHost: string | undefined
  const refuseForeignHost = (request: FastifyRequest) => {
    const {host: given} = request.headers
    if (!loopbackOnly || (given !== undefined && given === lastHost)) return
    const {hostname: host} = request
    if (!isLoopback(host) && !allowed.has(host.toLowerCase())) throw new SvcError('host_forbidden', {host})
    // Clients of one machine say the same with every request.
    lastHost = given
  }
  const log = logger(target)
  // Node.js looks for connections that are too slow twice a minute unless told otherwise.
  const timeouts = {
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.min(5000, headersTimeoutMs / 2),
  }
  const app = fastify({
    logController: new LogController({disableRequestLogging: true}),
    // Every line names its request itself: a logger of its own for each request would cost more than most requests. An
    // app that is handed a logger would also watch for the end of every answer, to log it.
    childLoggerFactory: () => log as FastifyBaseLogger,
    ...(tls === undefined ? {http: timeouts} : {https: {...secureOptions(tls), ...timeouts}}),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    // While the server drains, requests on open connections are answered like any other.
    return503OnClosing: false,
    routerOptions: {ignoreTrailingSlash: true, maxParamLength: longestParameter},
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID()
    },
    // A path that cannot be decoded comes here without passing any hook.
    frameworkErrors: (thrown, request, reply) => {
      reply.headers(headers)
      try {
        refuseForeignHost(request)
        answer(thrown, request, reply)
      } catch (foreign) {
        answer(foreign, request, reply)
      }
    },
  })

  app.log = log as FastifyBaseLogger

  function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = fromFastify(thrown, request.routeOptions.bodyLimit ?? bodyLimit)
    const {code, status, message} = error
    if (status === 500) request.log.error({err: thrown, code, id: request.id}, message)
    else request.log.info({code, status, id: request.id}, message)
    const body = renderer(pathOf(request))(withoutInternals(error), request.id)
    const busy = error.status === 503 || error.status === 429
    if (busy && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
    if (error.status === 401) reply.header('www-authenticate', 'Bearer')
    reply
      .code(error.status)
      .header('x-request-id', request.id)
      .type('status' in body ? 'application/problem+json' : 'application/json; charset=utf-8')
      .send(JSON.stringify(body))
  }

  endUnusedConnections(app, tls === undefined ? 'connection' : 'secureConnection')
  const methodsAt = collectMethods(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    for (const name in headers) reply.header(name, headers[name])
    refuseForeignHost(request)
    done()
  })
  readBodies[bodies](app)
  if (log.isLevelEnabled('info'))
    app.addHook('onResponse', (request, reply, done) => {
      const {method, id} = request
      const ms = Math.round(reply.elapsedTime)
      request.log.info({method, path: pathOf(request), status: reply.statusCode, ms, id})
      done()
    })
  app.setErrorHandler(answer)
  app.setNotFoundHandler((request, reply) => {
    const {method} = request
    const path = pathOf(request)
    const methods = methodsAt(path)
    if (methods.length === 0) throw new SvcError('route_unknown', {method, path})
    reply.header('allow', methods.join(', '))
    throw new SvcError('method_not_allowed', {method, path, allowed: methods})
  })
  return app
}

/**
 * Has the app, when it closes, end connections that have not sent a request yet. Node.js counts them as active, and waits
 * for them until their time for a request is over.
 */
function endUnusedConnections(app: HttpApp, opened: 'connection' | 'secureConnection'): void {
  const unused = new Set<Socket>()
  app.server.on(opened, (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  const use = ({socket}: IncomingMessage) => unused.delete(socket)
  app.server.on('request', use)
  app.server.on('upgrade', use)
  app.addHook('preClose', (done) => {
    for (const socket of unused) socket.destroy()
    done()
  })
}

const readBodies = {parsed: readBodiesAsJson, json: readJsonBodies, text: readBodiesAsText}

/** @throws tls_unusable */
function secureOptions({cert, key, minVersion}: TlsOptions): ServerOptions {
  const options = {cert, key, minVersion: `TLSv${minVersion}` as const}
  try {
    createSecureContext(options)
  } catch (error) {
    throw new SvcError('tls_unusable', {reason: (error as Error).message}, {cause: error})
  }
  return options
}

const pathOf = (request: FastifyRequest) => request.url.split('?')[0] ?? request.url

function fromFastify(thrown: unknown, bodyLimit: number): SvcError {
  if (!(thrown instanceof Error) || thrown instanceof SvcError) return SvcError.from(thrown)
  const {code, statusCode = 500, message} = thrown as Error & {code?: string; statusCode?: number}
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new SvcError('body_too_large', {limit: bodyLimit}, {cause: thrown})
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new SvcError('bad_request', {reason: `a path parameter has at most ${longestParameter} characters`})
  if (code === 'FST_ERR_BAD_URL') return new SvcError('bad_request', {reason: 'the path cannot be decoded'})
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new SvcError('media_type_unsupported', {}, {cause: thrown})
  if (statusCode >= 400 && statusCode < 500) return new SvcError('bad_request', {reason: message}, {cause: thrown})
  return SvcError.from(thrown)
}

/** What went wrong inside is for the log, not for a client. */
const withoutInternals = (error: SvcError): SvcError =>
  error.code === 'internal' ? new SvcError('internal', {reason: 'the log of the server says more'}) : error

export interface Listening {
  host: string
  port: number
  /** `http://127.0.0.1:11435` */
  baseUrl: string
}

/**
 * Starts to listen; port 0 takes a free one.
 * @throws port_in_use, address_unavailable
 */
export async function listen(app: HttpApp, {host, port}: {host: string; port: number}): Promise<Listening> {
  try {
    await app.listen({host, port})
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new SvcError('port_in_use', {host, port}, {cause: error})
    if (code?.startsWith('E')) throw new SvcError('address_unavailable', {host, port, reason: message}, {cause: error})
    throw error
  }
  const bound = (app.server.address() as AddressInfo).port
  const literal = host.includes(':') ? `[${host}]` : host
  const scheme = app.server instanceof TlsServer ? 'https' : 'http'
  return {host, port: bound, baseUrl: `${scheme}://${literal}:${bound}`}
}
