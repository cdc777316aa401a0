import {isLegacyRequest} from '@modelcontextprotocol/server'
import {type MessageRefusal, type ParsedMessage, parseMessage} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {
  bearerToken,
  clientGone,
  createApp,
  createRateLimit,
  type HttpApp,
  isLoopback,
  type Listening,
  listen,
  missingForRemote,
} from '../../net/index.js'
import {isRefusal, readBatch, readMessage, refusalAnswer} from '../messages.js'
import type {ServerParts} from '../server-parts.js'
import {type AccessOptions, type Role, registries, requireReadable, roleOf} from './access.js'
import {gatewayPath, serveGateway} from './gateway.js'
import {isOwnOrigin} from './origin.js'
import {HttpSessions, type SessionLimits} from './sessions.js'
import {createStateless} from './stateless.js'
import {closeOf, sendResponse, webRequest, withMessages} from './web.js'

export interface HttpOptions {
  address: {host: string; port: number}
  access: AccessOptions
  /** Requires a token for `/health` too. */
  healthAuth: boolean
  /** Permits binding to an address that other machines can reach. */
  allowRemote: boolean
  sessions: SessionLimits
  /** Per client address; 0 for no limit. */
  requestsPerMinute: number
}

export interface HttpToolServer extends Listening {
  /** Stops listening and waits up to `drainMs` for running calls to finish. */
  close(drainMs: number): Promise<void>
}

/** Maximum size of a message, bytes. */
const bodyLimit = 4 << 20

/** JSON-RPC error numbers by HTTP status. */
const numbers: Readonly<Record<number, number>> = {400: -32600, 404: -32001}

const asProtocolError = ({code, message, hint, status}: SvcError) => ({
  jsonrpc: '2.0',
  error: {
    code: code === 'invalid_json' ? -32700 : (numbers[status] ?? -32000),
    message,
    data: {code, remediation: hint},
  },
  id: null,
})

/**
 * Serves the tools over streamable HTTP at `/mcp`, over WebSocket at `/v1/ws`, and `/health`. Clients of MCP revisions
 * before 2026-07-28 have a session each.
 * @throws unknown_tool, usage, remote_bind_refused, port_in_use, address_unavailable
 */
export async function serveHttp(parts: ServerParts, options: HttpOptions): Promise<HttpToolServer> {
  const {address, access, allowRemote} = options
  const {host} = address
  const [token] = [access.token, access.readToken]
    .filter((each) => each !== undefined)
    .sort((a, b) => a.length - b.length)
  const missing = missingForRemote({host, allowRemote, token, variable: 'SVC_MCP_HTTP_BEARER_TOKEN'})
  if (missing.length > 0) throw new SvcError('remote_bind_refused', {host, missing})
  const toolsOf = registries(parts.registry, access)
  const serversOf = (role: Role) => {
    const own = {...parts, registry: toolsOf[role]}
    return {sessions: new HttpSessions(own, options.sessions), stateless: createStateless(own, options.sessions.max)}
  }
  const servers = {write: serversOf('write'), read: serversOf('read')}
  const app = createApp({
    target: 'mcp',
    renderer: () => asProtocolError,
    bodyLimit,
    parseJson: parseMessage,
    loopbackOnly: isLoopback(host),
    hostRemedy: 'accept other machines with --http 0.0.0.0:PORT and --allow-remote',
    headers: {'cache-control': 'no-store'},
  })
  const waitMs = rateLimit(options)
  guard(app, options, waitMs)
  await serveGateway(app, {parts, access, registries: toolsOf, waitMs, requestsPerMinute: options.requestsPerMinute})
  app.get('/health', async () => ({status: 'ok'}))
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    handler: async ({raw, body, headers}, reply) => {
      const role = roleOf(access, bearerToken(headers.authorization)) as Role
      const read = raw.method === 'POST' ? readBody(body) : {body: undefined, refusals: []}
      if (isRefusal(read)) return reply.code(400).send(refusalAnswer(read))
      const refused = read.refusals.map(refusalAnswer)
      if (Array.isArray(read.body) && read.body.length === 0) return reply.code(400).send(refused)
      if (role === 'read') requireReadable(read.body)
      const {sessions, stateless} = servers[role]
      const request = webRequest(raw, clientGone(reply))
      const closed = closeOf(reply.raw)
      const isLegacy = await isLegacyRequest(request, read.body)
      const session = isLegacy ? await sessions.of(request, read.body) : undefined
      const response =
        session === undefined
          ? await stateless.answer(request, read.body, closed)
          : await sessions.answer(session, request, read.body, closed)
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value)
      await sendResponse(withMessages(response, refused), reply.raw)
    },
  })
  app.options('/mcp', async (_request, reply) => reply.code(204).send())
  const listening = await listen(app, address)
  return {
    ...listening,
    async close(drainMs) {
      const closed = app.close()
      const both = Object.values(servers).flatMap(({sessions, stateless}) => [sessions, stateless])
      await Promise.all(both.map((each) => each.close(drainMs)))
      app.server.closeAllConnections()
      await closed
    },
  }
}

/** A message, or the valid messages of a batch, and the errors of the others. */
interface ReadBody {
  body: unknown
  refusals: readonly MessageRefusal[]
}

/** @param parsed undefined if the body is empty */
function readBody(parsed: unknown): ReadBody | MessageRefusal {
  const {value, refusal} = (parsed ?? {}) as ParsedMessage
  if (refusal !== undefined) return refusal
  if (Array.isArray(value)) {
    const batch = readBatch(value)
    return isRefusal(batch) ? batch : {body: batch.messages, refusals: batch.refusals}
  }
  const message = readMessage(value)
  return isRefusal(message) ? message : {body: message, refusals: []}
}

/** CORS headers for pages served by this machine. */
const corsHeaders = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
  'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, retry-after',
  vary: 'origin',
}

type WaitMs = (address: string) => number

/** Counts a request or message of a client. @returns time that the client must wait, ms */
function rateLimit({requestsPerMinute}: HttpOptions): WaitMs {
  if (requestsPerMinute === 0) return () => 0
  const rate = createRateLimit({perSecond: requestsPerMinute / 60, burst: requestsPerMinute})
  return (address) => rate.take(address, performance.now())
}

/** Checks the origin, rate limit and token of each request. A WebSocket client can also send its token as a message. */
function guard(app: HttpApp, {access, healthAuth, requestsPerMinute}: HttpOptions, waitMsOf: WaitMs): void {
  app.addHook('onRequest', async ({headers, ip, method, url}, reply) => {
    const {origin, authorization} = headers
    const [path] = url.split('?', 1)
    if (origin !== undefined) {
      if (!isOwnOrigin(origin)) throw new SvcError('origin_denied', {origin})
      reply.headers({...corsHeaders, 'access-control-allow-origin': origin})
    }
    if (path === gatewayPath && origin === undefined) throw new SvcError('origin_denied', {origin: 'no origin'})
    // A browser sends the CORS preflight request without the token.
    if ((path === '/health' && !healthAuth) || method === 'OPTIONS') return
    const waitMs = waitMsOf(ip)
    if (waitMs > 0) {
      reply.header('retry-after', String(Math.ceil(waitMs / 1000)))
      throw new SvcError('rate_limited', {limit: requestsPerMinute, within: 'minute'})
    }
    if (path === gatewayPath && authorization === undefined) return
    if (roleOf(access, bearerToken(authorization)) === undefined) throw new SvcError('unauthorized', {})
  })
}
