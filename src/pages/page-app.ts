import type {FastifyRequest} from 'fastify'
import {asProblem, SvcError} from '../errors/index.js'
import {registerSecret} from '../log/index.js'
import {createApp, type HttpApp, hasBearerToken} from '../net/index.js'
import type {WebPage} from './page.js'

interface PageAppOptions {
  /** Target of its log lines. */
  target: string
  page: WebPage
  /** Secret that the page sends as a bearer token. It is in the fragment of the page's address, which browsers do not send. */
  key: string
  /** Maximum size of a body, bytes. */
  bodyLimit: number
}

/** Paths that need no key: the document, which contains no data, and the health check. */
const openPaths: ReadonlySet<string> = new Set(['/', '/health'])

/**
 * Creates the app of a page for the person who started its server. Everything except the document is only for the page
 * itself: with the key, from its own origin, on a loopback address.
 */
export function createPageApp({target, page, key, bodyLimit}: PageAppOptions): HttpApp {
  registerSecret(key)
  const app = createApp({
    target,
    renderer: () => asProblem,
    bodyLimit,
    bodies: 'json',
    headers: page.headers,
    hostRemedy: 'forward the port, for example with ssh -L',
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!openPaths.has(request.url.split('?')[0] ?? '')) requireOwnPage(request, key)
    done()
  })
  app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(page.html))
  app.get('/health', async () => ({status: 'ok'}))
  return app
}

/**
 * Admits only requests of the page itself, before a body is read. A POST must have an Origin header, which every browser
 * sends. A Sec-Fetch-Site header must be same-origin.
 * @throws origin_denied for requests of other pages; unauthorized without the key
 */
function requireOwnPage({method, headers}: FastifyRequest, key: string): void {
  const {host, origin, authorization, 'sec-fetch-site': site} = headers
  const isOwn = origin === undefined ? method === 'GET' : origin.toLowerCase() === `http://${host}`.toLowerCase()
  if (!isOwn || (site !== undefined && site !== 'same-origin'))
    throw new SvcError('origin_denied', {origin: origin ?? 'an unknown origin'})
  if (!hasBearerToken(authorization, key)) throw new SvcError('unauthorized', {})
}
