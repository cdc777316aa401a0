import type {IncomingHttpHeaders} from 'node:http'
import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {type HttpApp, hasBearerToken, isLoopback, isSameSecret} from '../net/index.js'

export interface AccessOptions {
  /** Undefined lets everyone in; tokens that clients send are ignored then. */
  apiKey: string | undefined
  /** Origins of web pages that may use the server, beside those of this machine. */
  origins: readonly string[]
}

/** Routes that say nothing about the model or its users to whoever has no key. */
const open = new Set(['/', '/health'])
const appSchemes = new Set(['app:', 'file:', 'tauri:', 'vscode-webview:'])
const allowedHeaders =
  /^(authorization|x-api-key|content-type|user-agent|accept|x-requested-with|x-request-id|openai-beta|x-stainless-.*)$/i

/** Whether a request bears the key, as a bearer token or in `x-api-key`, or none is needed. */
export function holdsKey({authorization, 'x-api-key': key}: IncomingHttpHeaders, apiKey: string | undefined): boolean {
  if (apiKey === undefined || hasBearerToken(authorization, apiKey)) return true
  return typeof key === 'string' && isSameSecret(key, apiKey)
}

/** Who may use the server: holders of the key, and web pages of this machine or of the allowed origins. */
export function guardAccess(app: HttpApp, {apiKey, origins}: AccessOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    allowOrigin(request, reply, origins)
    if (request.method === 'OPTIONS') return answerPreflight(request, reply)
    const path = request.url.split('?')[0] ?? ''
    if (!open.has(path) && !holdsKey(request.headers, apiKey)) throw new SvcError('unauthorized', {})
  })
}

function answerPreflight({headers}: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim())
  return reply
    .code(204)
    .header('access-control-allow-methods', 'GET, POST, HEAD, OPTIONS')
    .header('access-control-allow-headers', asked.filter((name) => allowedHeaders.test(name)).join(', '))
    .header('access-control-max-age', '43200')
    .send()
}

function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const {origin} = request.headers
  if (origin === undefined) return
  if (!isAllowed(origin, origins)) throw new SvcError('origin_forbidden', {origin})
  reply.header('access-control-allow-origin', origin).header('vary', 'origin')
}

function isAllowed(origin: string, origins: readonly string[]): boolean {
  if (origins.includes(origin) || origins.includes('*')) return true
  if (!URL.canParse(origin)) return false
  const {protocol, hostname} = new URL(origin)
  return appSchemes.has(protocol) || isLoopback(hostname) || hostname === '0.0.0.0'
}
