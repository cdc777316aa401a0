import type {FastifyReply, FastifyRequest} from 'fastify'
import {literalPattern, SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {type HttpApp, isLoopback} from '../net/index.js'
import {type Client, type Clients, holdsKey} from './clients.js'
import {receiptHeader} from './context.js'
import {rateHeaders} from './rate-headers.js'

export interface AccessOptions {
  clients: Clients
  /** Key that changes the adapters, and is accepted for everything else, too. */
  adminKey?: string | undefined
  /** Patterns of the allowed origins of web pages, in addition to those of this machine. */
  origins: readonly string[]
}

/** Routes without authentication; they reveal nothing about the model or its users. */
const open = new Set(['/', '/health'])
const appSchemes = new Set(['app:', 'file:', 'tauri:', 'vscode-webview:'])
/** A name of a header, as in RFC 9110. */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Requires the API key, and for web pages an origin on this machine or an allowed one. Their requests may have any
 * header.
 */
export function guardAccess(app: HttpApp, {clients, adminKey, origins}: AccessOptions): void {
  const isAllowed = originTest(origins)
  app.addHook('onRequest', async (request, reply) => {
    allowOrigin(request, reply, isAllowed)
    if (request.method === 'OPTIONS') return answerPreflight(request, reply)
    const path = pathOf(request)
    if (open.has(path) || (adminKey !== undefined && holdsKey(request.headers, adminKey))) return
    const client = clients.of(request.headers)
    if (client === undefined) throw new SvcError('unauthorized', {})
    clients.assign(request, client)
    if (request.method === 'POST') admit(client, reply, path)
  })
}

const pathOf = ({url}: FastifyRequest) => url.split('?')[0] ?? ''

/** Charges a request to its client, and reports what is left in headers. @throws rate_limited, token_budget_exhausted */
function admit(client: Client, reply: FastifyReply, path: string): void {
  const {waitMs} = client
  try {
    client.admit()
  } catch (error) {
    reply.header('retry-after', String(Math.ceil(waitMs / 1000)))
    logger('serve').info({client: client.name}, 'A client has used its budget.')
    throw error
  } finally {
    reply.headers(rateHeaders(client, path))
  }
}

function answerPreflight({headers}: FastifyRequest, reply: FastifyReply): FastifyReply {
  const requested = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim())
  return reply
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, DELETE, HEAD, OPTIONS')
    .header('access-control-allow-headers', requested.filter((name) => headerName.test(name)).join(', '))
    .header('access-control-max-age', '43200')
    .send()
}

function allowOrigin(request: FastifyRequest, reply: FastifyReply, isAllowed: (origin: string) => boolean): void {
  const {origin} = request.headers
  if (origin === undefined) return
  if (!isAllowed(origin)) throw new SvcError('origin_forbidden', {origin})
  reply.header('access-control-allow-origin', origin).header('vary', 'origin')
  reply.header('access-control-expose-headers', `x-request-id, ${receiptHeader}`)
}

/** Whether an origin is on this machine or matches a pattern. `*` in a pattern stands for at least one character. */
export function originTest(patterns: readonly string[]): (origin: string) => boolean {
  const forms = patterns.map((pattern) => {
    if (pattern === '*') return /^/
    const parts = pattern.split('*').map(literalPattern)
    return new RegExp(`^${parts.join('[^/]+')}$`)
  })
  return (origin) => {
    if (forms.some((form) => form.test(origin))) return true
    if (!URL.canParse(origin)) return false
    const {protocol, hostname} = new URL(origin)
    return appSchemes.has(protocol) || isLoopback(hostname) || hostname === '0.0.0.0'
  }
}
