import {join} from 'node:path'
import type {FastifyRequest} from 'fastify'
import {asDatabaseError, isErrorOf, SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
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
import {logger} from '../log/index.js'
import {
  createApp,
  type DirectRoute,
  type DirectRoutes,
  type HttpApp,
  hasBearerToken,
  isLoopback,
  type Listening,
  listen,
} from '../net/index.js'
import {loadPage} from '../pages/index.js'
import {LiveFeed, liveRoute} from './live.js'
import {argumentReader, type Sources} from './parameters.js'
import {ReadThreads} from './read-thread.js'
import {type Answer, answerOf, answerOfFailure, logFailure, send} from './reply.js'

export interface AppServerOptions {
  address: {host: string; port: number}
  /** A database with the tables of the program. */
  path: string
  ports: Partial<Ports>
  /** The token that clients must send; undefined accepts every client. */
  token?: string | undefined
  /** Title of the OpenAPI document and the explorer. */
  title: string
  /** Called at each request that finds the database migrated for another program, moved or removed. */
  onUnusable?: (error: SvcError) => void
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
  const threads = new ReadThreads({source: program.source, path}, ports.log ?? (() => undefined))
  const onError = (error: unknown) => {
    if (isErrorOf(error, 'schema_changed') || isErrorOf(error, 'store_moved')) options.onUnusable?.(error)
  }
  const log = logger('db')
  const routes = servedRoutes(program.routes)
  const responders = routes.map((route, at) => responder({application, threads, route, at, onError, log}))
  const isAuthorized = (authorization: string | undefined) =>
    token === undefined || hasBearerToken(authorization, token)
  const app = createApp({
    target: 'db',
    renderer: () => asDatabaseError,
    bodyLimit,
    loopbackOnly: isLoopback(address.host),
    hostRemedy: 'accept other machines with --host 0.0.0.0',
    bodies: 'text',
    headers: {'cache-control': 'no-store'},
    direct: {routes: directRoutes(routes, responders), isAuthorized},
  })
  const close = () => {
    feed?.close()
    application.close()
  }
  if (token !== undefined)
    app.addHook('onRequest', ({headers, routeOptions}, _reply, done) =>
      done(
        routeOptions.config.isPublic === true || isAuthorized(headers.authorization)
          ? undefined
          : new SvcError('unauthorized', {}),
      ),
    )
  for (const [at, route] of routes.entries()) addRoute(app, route, responders[at] as Respond)
  if (feed !== undefined) liveRoute(app, application, feed)
  await addOwnRoutes(app, program, {title, token: token !== undefined})
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
  log: ReturnType<typeof logger>
}

/** Answers a request. @throws the errors that are not of the request */
type Respond = (sources: Sources, id: string, headers: RequestFacts['headers']) => Answer | Promise<Answer>

const takesRequest = ({function: {params}}: Route) => params.some(({type}) => type.kind === 'request')

function responder({application, threads, route, at, onError, log}: Served): Respond {
  const read = argumentReader(route)
  const {function: target} = route
  const needsFacts = takesRequest(route)
  return (sources, id, headers) => {
    const fail = (thrown: unknown): Answer => {
      const answer = answerOfFailure(thrown, id)
      if (answer === undefined) {
        onError(thrown)
        throw thrown
      }
      logFailure(log, id, answer)
      return answer
    }
    try {
      const facts = needsFacts ? factsOf(headers, sources) : undefined
      if (application.readsMuch(target)) {
        const asked = threads.ask({route: at, sources, facts, requestId: id})
        return asked.then((answer) => {
          logFailure(log, id, answer)
          return answer
        }, fail)
      }
      const result = application.call(target, read(sources), facts)
      if (result instanceof Promise) return result.then((ended) => answerOf(route, ended, id)).catch(fail)
      return answerOf(route, result, id)
    } catch (thrown) {
      return fail(thrown)
    }
  }
}

function addRoute(app: HttpApp, {method, path}: Route, respond: Respond): void {
  app.route({
    method,
    url: routerPath(path),
    exposeHeadRoute: method === 'GET',
    handler: (request, reply) => {
      const answer = respond(sourcesOf(request), request.id, request.headers)
      return answer instanceof Promise ? answer.then((settled) => send(reply, settled)) : send(reply, answer)
    },
  })
}

/** Routes whose path and parameters need no framework. */
function directRoutes(routes: readonly Route[], responders: readonly Respond[]): DirectRoutes['routes'] {
  const direct = {GET: new Map<string, DirectRoute>(), POST: new Map<string, DirectRoute>()}
  for (const [at, route] of routes.entries()) {
    const {method, path} = route
    const respond = responders[at] as Respond
    if ((method === 'GET' || method === 'POST') && /^[\w/.-]+$/.test(path) && !takesRequest(route))
      direct[method].set(path, {
        // Keys of an object, because V8 finds a property faster by the name that it keeps for it.
        names: Object.keys(Object.fromEntries(route.function.params.map(({name}) => [name, true]))),
        answer: ({query, body, id}) => respond({query, params: noParams, body}, id, noHeaders),
      })
  }
  return direct
}

const noParams = {}
const noHeaders = {}

const sourcesOf = ({query, params, body}: FastifyRequest): Sources => ({
  query: query as Sources['query'],
  params: params as Sources['params'],
  body: body as string | undefined,
})

function factsOf(headers: RequestFacts['headers'], {query, params, body}: Sources): RequestFacts {
  const first = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]])
  return {text: body ?? '', query: Object.fromEntries(first), params, headers}
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs no token. */
    isPublic?: boolean
  }
}

/** Build output of `page/`. */
const pageFolder = join(packageRoot, 'dist', 'src', 'app-server', 'page')

/**
 * Adds the page that calls the endpoints, the OpenAPI document and the health check; routes of the program take precedence.
 * The page is the same for every program and asks for the token, which a browser cannot send when it opens a page.
 */
async function addOwnRoutes(
  app: HttpApp,
  program: Program,
  {title, token}: {title: string; token: boolean},
): Promise<void> {
  const document = JSON.stringify(openapi(program, {title, version: '1', token}))
  const {html, headers} = await loadPage(pageFolder)
  // The router ignores a slash at the end.
  const taken = new Set(program.routes.flatMap(({method, path}) => (method === 'GET' ? [path, `${path}/`] : [])))
  const own: readonly OwnRoute[] = [
    {path: '/_svc/', type: 'text/html; charset=utf-8', content: html, headers, isPublic: true},
    {path: '/_svc/openapi.json', type: 'application/json; charset=utf-8', content: document},
    {path: '/health', type: 'application/json; charset=utf-8', content: '{"status":"ok"}', isPublic: true},
  ]
  for (const {path, type, content, headers: more = {}, isPublic = false} of own)
    if (!taken.has(path))
      app.get(path, {config: {isPublic}}, async (_request, reply) => reply.headers(more).type(type).send(content))
}

interface OwnRoute {
  path: string
  type: string
  content: string
  headers?: Readonly<Record<string, string>>
  /** Needs no token. */
  isPublic?: boolean
}
