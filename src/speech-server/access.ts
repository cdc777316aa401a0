import type {FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {type HttpApp, hasBearerToken, isLoopback, isSameSecret} from '../net/index.js'

/** Prefix of the WebSocket subprotocol with the token, for browsers, which cannot send an Authorization header. */
const tokenProtocol = 'bearer.'

/** Paths that need no token: the page, which contains no data, asks for the token itself. */
const openPaths: ReadonlySet<string> = new Set(['/', '/health'])

/** Requires the token, if there is one, and for web pages an origin on this machine or of this server. */
export function guardAccess(app: HttpApp, token: string | undefined): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const {origin, host} = request.headers
    if (origin !== undefined && !isLocal(origin) && !isOwn(origin, host))
      return done(new SvcError('origin_forbidden', {origin}))
    const isOpen = token === undefined || openPaths.has(request.url.split('?')[0] ?? '')
    done(isOpen || holdsToken(request, token) ? undefined : new SvcError('unauthorized', {}))
  })
}

function holdsToken({headers}: FastifyRequest, token: string): boolean {
  if (hasBearerToken(headers.authorization, token)) return true
  return protocolsOf(headers['sec-websocket-protocol']).some(
    (name) => name.startsWith(tokenProtocol) && isSameSecret(name.slice(tokenProtocol.length), token),
  )
}

const protocolsOf = (header = ''): string[] => header.split(',').map((name) => name.trim())

/** Selects the subprotocol of a WebSocket connection: browsers require one of those that they offered. */
export function selectProtocol(offered: ReadonlySet<string>): string | false {
  const names = [...offered]
  return names.find((name) => !name.startsWith(tokenProtocol)) ?? names[0] ?? false
}

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname)
}

/**
 * True for the page of this server under the name in the address bar. Another page could get such a name by DNS rebinding,
 * but it has no token; without a token, `createApp` refuses names beyond loopback.
 */
const isOwn = (origin: string, host = ''): boolean =>
  URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
