import type {FastifyRequest} from 'fastify'
import {SvcError} from '../errors/index.js'
import {type HttpApp, hasBearerToken, hasProtocolToken, isLoopback} from '../net/index.js'

/** Requires the token, if there is one, and for web pages an origin on this machine. `/health` needs no token. */
export function guardAccess(app: HttpApp, token: string | undefined): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const {origin} = request.headers
    if (origin !== undefined && !isLocal(origin)) return done(new SvcError('origin_forbidden', {origin}))
    const isOpen = token === undefined || request.url.split('?')[0] === '/health'
    done(isOpen || holdsToken(request, token) ? undefined : new SvcError('unauthorized', {}))
  })
}

const holdsToken = ({headers}: FastifyRequest, token: string): boolean =>
  hasBearerToken(headers.authorization, token) || hasProtocolToken(headers['sec-websocket-protocol'], token)

function isLocal(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname)
}
