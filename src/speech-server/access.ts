import type {FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {type HttpApp, hasBearerToken, hasProtocolToken, isLoopback} from '../net/index.js'

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

const holdsToken = ({headers}: FastifyRequest, token: string): boolean =>
  hasBearerToken(headers.authorization, token) || hasProtocolToken(headers['sec-websocket-protocol'], token)

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname)
}

/**
 * True for the page of this server under the name in the address bar. Another page could get such a name by DNS rebinding,
 * but it has no token; without a token, `createApp` refuses names beyond loopback.
 */
const isOwn = (origin: string, host = ''): boolean =>
  URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
