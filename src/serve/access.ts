import type {IncomingHttpHeaders} from 'node:http'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {literalPattern, SvcError} from '../errors/index.js'
import {type HttpApp, hasBearerToken, hasProtocolToken, isLoopback, isSameSecret} from '../net/index.js'
import {receiptHeader} from './context.js'

export interface AccessOptions {
  /** Undefined disables authentication; tokens in requests are then ignored. */
  apiKey: string | undefined
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

/** Whether a request has the key, as a bearer token, in `x-api-key` or as a subprotocol, or no key is required. */
export function holdsKey(headers: IncomingHttpHeaders, apiKey: string | undefined): boolean {
  const {authorization, 'x-api-key': key, 'sec-websocket-protocol': protocols} = headers
  if (apiKey === undefined || hasBearerToken(authorization, apiKey) || hasProtocolToken(protocols, apiKey)) return true
  return typeof key === 'string' && isSameSecret(key, apiKey)
}

/**
 * Requires the API key, and for web pages an origin on this machine or an allowed one. Their requests may have any
 * header.
 */
export function guardAccess(app: HttpApp, {apiKey, adminKey, origins}: AccessOptions): void {
  const isAllowed = originTest(origins)
  app.addHook('onRequest', async (request, reply) => {
    allowOrigin(request, reply, isAllowed)
    if (request.method === 'OPTIONS') return answerPreflight(request, reply)
    const path = request.url.split('?')[0] ?? ''
    const isAdmin = adminKey !== undefined && holdsKey(request.headers, adminKey)
    if (!open.has(path) && !isAdmin && !holdsKey(request.headers, apiKey)) throw new SvcError('unauthorized', {})
  })
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
