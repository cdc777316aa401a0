import {isLegacyRequest} from '@modelcontextprotocol/server'
import {SvcError} from '../../errors/index.js'
import {
  clientGone,
  createApp,
  createRateLimit,
  type HttpApp,
  hasBearerToken,
  isLoopback,
  type Listening,
  listen,
  missingForRemote,
} from '../../net/index.js'
import type {ServerParts} from '../server-parts.js'
import {isOwnOrigin} from './origin.js'
import {HttpSessions, type SessionLimits} from './sessions.js'
import {createStateless} from './stateless.js'
import {closeOf, sendResponse, webRequest} from './web.js'

export interface HttpOptions {
  address: {host: string; port: number}
  /** Bearer token required of clients; undefined admits every process of this machine. */
  token: string | undefined
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
 * Serves the tools over streamable HTTP at `/mcp`, and `/health`. Clients of revisions before 2026-07-28 have a session
 * each.
 * @throws remote_bind_refused, port_in_use, address_unavailable
 */
export async function serveHttp(parts: ServerParts, options: HttpOptions): Promise<HttpToolServer> {
  const {address, token, allowRemote} = options
  const {host} = address
  const missing = missingForRemote({host, allowRemote, token, variable: 'SVC_MCP_HTTP_BEARER_TOKEN'})
  if (missing.length > 0) throw new SvcError('remote_bind_refused', {host, missing})
  const sessions = new HttpSessions(parts, options.sessions)
  const stateless = createStateless(parts, options.sessions.most)
  const app = createApp({
    target: 'mcp',
    renderer: () => asProtocolError,
    bodyLimit,
    loopbackOnly: isLoopback(host),
    headers: {'cache-control': 'no-store'},
  })
  guard(app, options)
  app.get('/health', async () => ({status: 'ok'}))
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    handler: async ({raw, body}, reply) => {
      const request = webRequest(raw, clientGone(reply))
      const closed = closeOf(reply.raw)
      const isLegacy = await isLegacyRequest(request, body)
      const session = isLegacy ? await sessions.of(request, body) : undefined
      const response =
        session === undefined
          ? await stateless.answer(request, body, closed)
          : await sessions.answer(session, request, body, closed)
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value)
      await sendResponse(response, reply.raw)
    },
  })
  app.options('/mcp', async (_request, reply) => reply.code(204).send())
  const listening = await listen(app, address)
  return {
    ...listening,
    async close(drainMs) {
      const closed = app.close()
      await Promise.all([sessions.close(drainMs), stateless.close(drainMs)])
      app.server.closeAllConnections()
      await closed
    },
  }
}

/** CORS headers for pages served by this machine. */
const corsHeaders = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
  'access-control-expose-headers': 'mcp-session-id, mcp-protocol-version, retry-after',
  vary: 'origin',
}

/** Checks the origin, rate limit and token of each request. */
function guard(app: HttpApp, {token, requestsPerMinute}: HttpOptions): void {
  const isLimited = requestsPerMinute > 0
  const rate = createRateLimit({perSecond: requestsPerMinute / 60, burst: requestsPerMinute})
  app.addHook('onRequest', async ({headers, ip, method, url}, reply) => {
    const {origin, authorization} = headers
    if (origin !== undefined) {
      if (!isOwnOrigin(origin)) throw new SvcError('origin_denied', {origin})
      reply.headers({...corsHeaders, 'access-control-allow-origin': origin})
    }
    // A browser sends the CORS preflight request without the token.
    if (url === '/health' || method === 'OPTIONS') return
    const waitMs = isLimited ? rate.take(ip, performance.now()) : 0
    if (waitMs > 0) {
      reply.header('retry-after', String(Math.ceil(waitMs / 1000)))
      throw new SvcError('rate_limited', {limit: requestsPerMinute, within: 'minute'})
    }
    if (token !== undefined && !hasBearerToken(authorization, token)) throw new SvcError('unauthorized', {})
  })
}
