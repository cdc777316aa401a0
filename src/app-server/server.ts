import type {FastifyRequest} from 'fastify'
import {asDatabaseError, isErrorOf, SvcError} from '../errors/index.js'
import {
  Application,
  fitsDatabase,
  openapi,
  type Ports,
  type Program,
  type RequestFacts,
  type Route,
  servedRoutes,
} from '../lang/index.js'
import {createApp, type HttpApp, hasBearerToken, isLoopback, type Listening, listen} from '../net/index.js'
import {explorerPage} from './explorer.js'
import {LiveFeed, liveRoute} from './live.js'
import {argumentReader, type Sources} from './parameters.js'
import {ReadThreads} from './read-thread.js'
import {answerOf, answerOfFailure, send} from './reply.js'

export interface AppServerOptions {
  address: {host: string; port: number}
  /** A database with the tables of the program. */
  path: string
  ports: Partial<Ports>
  /** The token that clients must send; undefined accepts every client. */
  token?: string | undefined
  /** Title of the OpenAPI document and the explorer. */
  title: string
  /** Called at each request that finds the database useless for the program, after a migration by another process. */
  onSchemaChanged?: (error: SvcError) => void
}

export interface AppServer extends Listening {
  routes: readonly Route[]
  /** Stops listening and waits up to `drainMs` for running requests. */
  close(drainMs: number): Promise<void>
}

/** Maximum size of a request body, bytes. */
const bodyLimit = 1 << 20

/**
 * Serves the endpoints, routes and change feeds of a program, and a page to call them.
 * @throws store_*, port_in_use, address_unavailable
 */
export async function startAppServer(program: Program, options: AppServerOptions): Promise<AppServer> {
  const {address, path, ports, token, title} = options
  const application = await Application.open(program, {path, ports, fits: fitsDatabase})
  const feed = application.topics.size === 0 ? undefined : await LiveFeed.start(application)
  const app = createApp({
    target: 'db',
    renderer: () => asDatabaseError,
    bodyLimit,
    loopbackOnly: isLoopback(address.host),
    hostRemedy: 'accept other machines with --host 0.0.0.0',
    bodies: 'text',
    headers: {'cache-control': 'no-store'},
  })
  const threads = new ReadThreads({source: program.source, path}, ports.log ?? (() => undefined))
  const close = () => {
    feed?.close()
    application.close()
  }
  if (token !== undefined)
    app.addHook('onRequest', ({headers, routeOptions}, _reply, done) =>
      done(
        routeOptions.config.isPublic === true || hasBearerToken(headers.authorization, token)
          ? undefined
          : new SvcError('unauthorized', {}),
      ),
    )
  const onError = (error: unknown) => {
    if (isErrorOf(error, 'schema_changed')) options.onSchemaChanged?.(error)
  }
  for (const [at, route] of servedRoutes(program.routes).entries())
    addRoute(app, {application, threads, route, at, onError})
  if (feed !== undefined) liveRoute(app, application, feed)
  addExplorer(app, program, {title, token: token !== undefined})
  const listening = await listen(app, address).catch((error: unknown) => {
    close()
    throw error
  })
  return {
    ...listening,
    routes: program.routes,
    async close(drainMs) {
      feed?.endAll()
      const drained = app.close()
      const timeout = new Promise((resolve) => setTimeout(resolve, drainMs).unref())
      await Promise.race([drained, timeout])
      app.server.closeAllConnections()
      await threads.close()
      await drained
      close()
    },
  }
}

const routerPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

interface Served {
  application: Application
  threads: ReadThreads
  route: Route
  /** Index in the served routes of the program. */
  at: number
  /** Called with each error that is not one of the request. */
  onError: (error: unknown) => void
}

function addRoute(app: HttpApp, {application, threads, route, at, onError}: Served): void {
  const read = argumentReader(route)
  const {function: target, method, path} = route
  const takesRequest = target.params.some(({type}) => type.kind === 'request')
  app.route({
    method,
    url: routerPath(path),
    exposeHeadRoute: method === 'GET',
    handler: (request, reply) => {
      const {id} = request
      const fail = (thrown: unknown) => {
        const answer = answerOfFailure(thrown, id)
        if (answer === undefined) {
          onError(thrown)
          throw thrown
        }
        return send(request, reply, answer)
      }
      try {
        const sources = sourcesOf(request)
        const facts = takesRequest ? factsOf(request, sources) : undefined
        if (application.readsMuch(target))
          return threads
            .ask({route: at, sources, facts, requestId: id})
            .then((answer) => send(request, reply, answer), fail)
        const result = application.call(target, read(sources), facts)
        if (result instanceof Promise)
          return result.then((ended) => send(request, reply, answerOf(route, ended, id))).catch(fail)
        return send(request, reply, answerOf(route, result, id))
      } catch (thrown) {
        return fail(thrown)
      }
    },
  })
}

const sourcesOf = ({query, params, body}: FastifyRequest): Sources => ({
  query: query as Sources['query'],
  params: params as Sources['params'],
  body: body as string | undefined,
})

function factsOf({headers}: FastifyRequest, {query, params, body}: Sources): RequestFacts {
  const first = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]])
  return {text: body ?? '', query: Object.fromEntries(first), params, headers}
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs no token. */
    isPublic?: boolean
  }
}

/**
 * Adds the explorer page and the OpenAPI document; routes of the program take precedence. The page is the same for every
 * program and asks for the token, which a browser cannot send when it opens a page.
 */
function addExplorer(app: HttpApp, program: Program, {title, token}: {title: string; token: boolean}): void {
  const document = JSON.stringify(openapi(program, {title, version: '1', token}))
  // The router ignores a slash at the end.
  const taken = new Set(program.routes.flatMap(({method, path}) => (method === 'GET' ? [path, `${path}/`] : [])))
  const pages: readonly [string, string, string][] = [
    ['/_svc/', 'text/html; charset=utf-8', explorerPage],
    ['/_svc/openapi.json', 'application/json; charset=utf-8', document],
  ]
  for (const [path, type, content] of pages)
    if (!taken.has(path))
      app.get(path, {config: {isPublic: content === explorerPage}}, async (_request, reply) =>
        reply
          .type(type)
          .header(
            'content-security-policy',
            "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
          )
          .send(content),
      )
}
