import {randomUUID} from 'node:crypto'
import type {IncomingMessage, RequestListener} from 'node:http'
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
import {answerParserError, contentTypeOf, refuseConnect} from './connection-errors.js'
import {type DirectRoutes, directListener, hasDecodableQuery, parseQuery} from './direct.js'
import {listenFailure} from './exposure.js'
import {LargeBodies} from './large-bodies.js'
import {isLoopback} from './loopback.js'
import {type ParseJson, readBodiesAsJson, readBodiesAsText, readJsonBodies} from './request-body.js'
import {collectMethods} from './routes.js'

export type HttpApp = FastifyInstance

export interface AppOptions {
  target: string
  /** Returns the error renderer for a path. */
  renderer(path: string): ErrorRenderer
  /** Maximum body, bytes. */
  bodyLimit?: number
  /** Timeout for receiving a request, ms. */
  requestTimeoutMs?: number
  /** Timeout for receiving the headers, ms. */
  headersTimeoutMs?: number
  /** Accept only loopback Host headers, as a protection against DNS rebinding. */
  loopbackOnly?: boolean
  /** How a person makes this server accept other hosts, as the end of a sentence. */
  hostRemedy: string
  /** Additional host names accepted with `loopbackOnly`. */
  allowedHosts?: readonly string[]
  /**
   * `parsed`: parse any body as JSON, regardless of its content type. `json`: parse a body, which must have the JSON
   * content type. `text`: pass such a body on as text.
   */
  bodies?: 'parsed' | 'json' | 'text'
  /** Parses the text of a JSON body; default: `JSON.parse`. */
  parseJson?: ParseJson
  /** Headers of every response. */
  headers?: Readonly<Record<string, string>>
  /** Routes that are called without the framework. */
  direct?: DirectRoutes
  /** Enables HTTPS. */
  tls?: TlsOptions | undefined
}

export interface TlsOptions {
  /** Certificate chain and private key, PEM. */
  cert: string
  key: string
  /** Minimum TLS version. */
  minVersion: '1.2' | '1.3'
}

/** Maximum length of a path parameter, characters. */
const maxParameterLength = 1024

const requestIdForm = /^[\w.:-]{1,128}$/

/**
 * Creates a fastify app with the common behaviour of all servers: request ids, JSON bodies, limits, and catalogue
 * errors rendered in the dialect of the path.
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
    hostRemedy: remedy,
    allowedHosts = [],
    bodies = 'parsed',
    parseJson = JSON.parse,
    headers = {},
    direct,
    tls,
  } = options
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()))
  let lastHost: string | undefined
  const refuseForeignHost = (request: FastifyRequest) => {
    const {host: header} = request.headers
    if (header === undefined && request.raw.httpVersion === '1.1')
      throw new SvcError('bad_request', {reason: 'the Host header is missing'})
    if (!loopbackOnly || (header !== undefined && header === lastHost)) return
    const {hostname: host} = request
    if (!isLoopback(host) && !allowed.has(host.toLowerCase())) throw new SvcError('host_forbidden', {host, remedy})
    // Cached, because local clients send the same Host with every request.
    lastHost = header
  }
  const log = logger(target)
  const serverOptions = {
    headersTimeout: headersTimeoutMs,
    // The default interval of 30 s would be too long for short timeouts.
    connectionsCheckingInterval: Math.min(5000, headersTimeoutMs / 2),
    // Checked below, because Node.js would answer without a body.
    requireHostHeader: false,
  }
  const app = fastify({
    logController: new LogController({disableRequestLogging: true}),
    // A child logger per request would cost more than most requests, so each log line contains the request id instead.
    // Passing a logger to fastify would also add a listener to every response.
    childLoggerFactory: () => log as FastifyBaseLogger,
    ...(tls === undefined ? {http: serverOptions} : {https: {...secureOptions(tls), ...serverOptions}}),
    clientErrorHandler: (error, socket) => answerParserError(error, socket, {renderer, headers}),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    // Answer requests on open connections normally while the server drains.
    return503OnClosing: false,
    routerOptions: {ignoreTrailingSlash: true, maxParamLength: maxParameterLength, querystringParser: parseQuery},
    genReqId: requestIdOf,
    // Requests with an undecodable path arrive here without passing any hook.
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

  function failed(
    thrown: unknown,
    {id, path, limit}: {id: string; path: string; limit: number},
  ): {status: number; body: string; headers: Record<string, string>} {
    const error = fromFastify(thrown, limit)
    const {code, status, message} = error
    if (status === 500) log.error({err: thrown, code, id}, message)
    else log.info({code, status, id}, message)
    const body = renderer(path)(withoutInternals(error), id)
    const headers: Record<string, string> = {'content-type': contentTypeOf(body)}
    if (status === 503 || status === 429) headers['retry-after'] = '1'
    if (status === 401) headers['www-authenticate'] = 'Bearer'
    return {status, body: JSON.stringify(body), headers}
  }

  function answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const {id, routeOptions} = request
    const given = reply.getHeader('retry-after')
    const {status, body, headers} = failed(thrown, {
      id,
      path: pathOf(request),
      limit: routeOptions.bodyLimit ?? bodyLimit,
    })
    reply.code(status).header('x-request-id', id).headers(headers)
    if (given !== undefined) reply.header('retry-after', given)
    reply.send(body)
  }

  // Node.js would answer unknown expectations with 417 and no body; servers may ignore them (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => refuseConnect(socket, {renderer, headers}))
  const use = endUnusedConnections(app, tls === undefined ? 'connection' : 'secureConnection')
  const methodsAt = collectMethods(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    for (const name in headers) reply.header(name, headers[name])
    refuseForeignHost(request)
    refuseUndecodableQuery(request.url)
    done()
  })
  readBodies[bodies](app, parseJson)
  let handle: ReturnType<typeof directListener> | undefined
  if (direct !== undefined && !log.isLevelEnabled('info')) {
    let isClosing = false
    app.addHook('preClose', (done) => {
      isClosing = true
      done()
    })
    handle = directListener({
      ...direct,
      bodyLimit: LargeBodies.from - 1,
      headers,
      isKnownHost: (host) => host !== undefined && (!loopbackOnly || host === lastHost),
      isClosing: () => isClosing,
      idOf: requestIdOf,
      failed: (thrown, request) => failed(thrown, {...request, limit: bodyLimit}),
    })
  }
  replaceListener(app, use, handle)
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

/** The router passes on a query string as it is if it cannot be decoded. @throws bad_request */
function refuseUndecodableQuery(url: string): void {
  if (!hasDecodableQuery(url)) throw new SvcError('bad_request', {reason: 'the query string cannot be decoded'})
}

/** A valid id from the client, or a new one. */
function requestIdOf({headers}: Pick<IncomingMessage, 'headers'>): string {
  const id = headers['x-request-id']
  return typeof id === 'string' && requestIdForm.test(id) ? id : randomUUID()
}

/**
 * Passes to the framework only requests that a listener, if any, does not handle. The server gets one listener, because
 * Node.js copies a list of several for each request.
 */
function replaceListener(
  app: HttpApp,
  use: (request: IncomingMessage) => void,
  handle: (...args: Parameters<RequestListener>) => boolean = () => false,
): void {
  const [framework] = app.server.listeners('request') as RequestListener[]
  if (framework === undefined) throw new Error('the framework has no listener')
  app.server.off('request', framework)
  app.server.on('request', (request, response) => {
    use(request)
    if (!handle(request, response)) framework(request, response)
  })
}

/**
 * Closes connections without a request when the app closes. Node.js counts them as active and would wait for their
 * request timeout. Returns a function to call with each request.
 */
function endUnusedConnections(
  app: HttpApp,
  opened: 'connection' | 'secureConnection',
): (request: IncomingMessage) => void {
  const unused = new Set<Socket>()
  app.server.on(opened, (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  const use = ({socket}: IncomingMessage) => {
    unused.delete(socket)
  }
  // Without a listener for upgrades, Node.js answers a request for one like any other, as to clients that offer HTTP/2.
  app.addHook('onListen', (done) => {
    if (app.server.listenerCount('upgrade') > 0) app.server.prependListener('upgrade', use)
    done()
  })
  app.addHook('preClose', (done) => {
    for (const socket of unused) socket.destroy()
    done()
  })
  return use
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
    return new SvcError('bad_request', {reason: `a path parameter is longer than ${maxParameterLength} characters`})
  if (code === 'FST_ERR_BAD_URL') return new SvcError('bad_request', {reason: 'the path cannot be decoded'})
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new SvcError('media_type_unsupported', {}, {cause: thrown})
  if (statusCode >= 400 && statusCode < 500) return new SvcError('bad_request', {reason: message}, {cause: thrown})
  return SvcError.from(thrown)
}

/** Removes details of internal errors, which are only logged. */
const withoutInternals = (error: SvcError): SvcError =>
  error.code === 'internal' ? new SvcError('internal', {reason: 'see the server log for details'}) : error

export interface Listening {
  host: string
  port: number
  /** Such as `http://127.0.0.1:11435`. */
  baseUrl: string
}

/**
 * Starts to listen. Port 0 chooses a free port.
 * @throws port_in_use, address_unavailable
 */
export async function listen(app: HttpApp, {host, port}: {host: string; port: number}): Promise<Listening> {
  try {
    await app.listen({host, port})
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new SvcError('port_in_use', {host, port}, {cause: error})
    if (code?.startsWith('E'))
      throw new SvcError('address_unavailable', {host, port, reason: listenFailure(error as Error)}, {cause: error})
    throw error
  }
  const bound = (app.server.address() as AddressInfo).port
  const literal = host.includes(':') ? `[${host}]` : host
  const scheme = app.server instanceof TlsServer ? 'https' : 'http'
  return {host, port: bound, baseUrl: `${scheme}://${literal}:${bound}`}
}
