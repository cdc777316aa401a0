import {randomUUID} from 'node:crypto'
import type {AddressInfo} from 'node:net'
import {type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, fastify} from 'fastify'
import {type ErrorRenderer, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {isLoopback} from './loopback.js'

export type HttpApp = FastifyInstance

export interface AppOptions {
  /** Log target of the server. */
  target: string
  /** How the errors of a route are written, by its path. */
  renderer(path: string): ErrorRenderer
  /** Largest body, bytes. */
  bodyLimit?: number
  /** Longest a client may take to send its request, ms. */
  requestTimeoutMs?: number
  /** Answer only requests whose Host is this machine: a page of another origin cannot rebind its name to reach us. */
  loopbackOnly?: boolean
}

const problemJson = 'application/problem+json'
const requestIdForm = /^[\w.:-]{1,128}$/

/**
 * A fastify app with the manners every server here has: a request id on each answer, bodies read as JSON whatever
 * their content type, limits, and every failure answered by a row of the error catalogue in the dialect of its path.
 */
export function createApp(options: AppOptions): HttpApp {
  const {target, renderer, bodyLimit = 8 << 20, requestTimeoutMs = 60_000, loopbackOnly = true} = options
  const app = fastify({
    loggerInstance: logger(target) as FastifyBaseLogger,
    disableRequestLogging: true,
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: 'idle',
    routerOptions: {ignoreTrailingSlash: true},
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID()
    },
  })
  const methods = collectMethods(app)

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const host = request.hostname
    if (loopbackOnly && !isLoopback(host)) throw new SvcError('host_forbidden', {host})
  })
  app.addHook('onResponse', async (request, reply) => {
    const {method, url, id} = request
    request.log.info({method, path: url.split('?')[0], status: reply.statusCode, ms: Math.round(reply.elapsedTime), id})
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', {parseAs: 'string'}, (_request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    try {
      done(null, JSON.parse(body as string))
    } catch (error) {
      done(new SvcError('invalid_json', {reason: (error as Error).message}))
    }
  })

  app.setErrorHandler((thrown, request, reply) => {
    const error = fromFastify(thrown, bodyLimit)
    if (error.status >= 500) request.log.error({err: thrown, code: error.code, id: request.id}, error.message)
    const render = renderer(pathOf(request))
    const body = render(error, request.id)
    reply.code(error.status).type('status' in body ? problemJson : 'application/json; charset=utf-8')
    if (error.status === 503 || error.status === 429) reply.header('retry-after', '1')
    return reply.send(JSON.stringify(body))
  })
  app.setNotFoundHandler((request, reply) => {
    const {method} = request
    const path = pathOf(request)
    const allowed = methods(path)
    if (allowed.length === 0) throw new SvcError('route_unknown', {method, path})
    reply.header('allow', allowed.join(', '))
    throw new SvcError('method_not_allowed', {method, path, allowed})
  })
  return app
}

const pathOf = (request: FastifyRequest) => request.url.split('?')[0] ?? request.url

/** The methods that some route takes at a path: what tells 405 from 404. */
function collectMethods(app: HttpApp): (path: string) => string[] {
  const routes: {method: string; pattern: RegExp}[] = []
  app.addHook('onRoute', ({method, url}) => {
    const source = url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:[^/]+/g, '[^/]+')
      .replace(/\*/g, '.*')
    const pattern = new RegExp(`^${source.replace(/\/$/, '')}/?$`)
    for (const one of [method].flat()) routes.push({method: one, pattern})
  })
  return (path) => [...new Set(routes.filter(({pattern}) => pattern.test(path)).map(({method}) => method))].sort()
}

function fromFastify(thrown: unknown, bodyLimit: number): SvcError {
  if (thrown instanceof SvcError) return thrown
  const {code, statusCode = 500, message} = thrown as {code?: string; statusCode?: number; message: string}
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new SvcError('body_too_large', {limit: bodyLimit}, {cause: thrown})
  if (statusCode >= 400 && statusCode < 500) return new SvcError('bad_request', {reason: message}, {cause: thrown})
  return SvcError.from(thrown)
}

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
  return {host, port: bound, baseUrl: `http://${literal}:${bound}`}
}
