import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import type {Caller} from './auth/caller.js'
import type {ControlPlaneContext} from './context.js'
import {callerOf, guard} from './guard.js'

export interface RouteRequest {
  caller: Caller
  /** Parsed JSON, not validated. */
  body: unknown
  query: object
  /** Parameters in the path. */
  params: object
  reply: FastifyReply
}

/** Handles a request. Returns serialized JSON, a file, or undefined for a response without content. */
export type Handler = (request: RouteRequest, context: ControlPlaneContext) => Promise<string | Buffer | undefined>

export type Handlers = Readonly<Partial<Record<MeshOperation, Handler>>>

const json = 'application/json; charset=utf-8'

/** Registers the routes of the operations with their guards. */
export function serveRoutes(app: HttpApp, context: ControlPlaneContext, handlers: Handlers): void {
  const {metrics} = context
  for (const [name, handle] of Object.entries(handlers)) {
    const operation = name as MeshOperation
    const {method, path, ok} = routes[operation]
    app.route({
      method,
      url: path.replace(/\{(\w+)\}/, ':$1'),
      onRequest: guard(operation, context),
      // A hook for every response would slow down heartbeats, so successful responses are counted in the handler.
      onError: (_request, _reply, error, done) => {
        metrics.answered(operation, error instanceof SvcError ? error.status : (error.statusCode ?? 500))
        done()
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const {body, query, params} = request
        const parts = {query: query as object, params: params as object}
        const answer = await handle({caller: callerOf(request), body, ...parts, reply}, context)
        if (reply.statusCode !== 304) reply.code(ok)
        metrics.answered(operation, reply.statusCode)
        if (answer !== undefined && !reply.hasHeader('content-type')) reply.header('content-type', json)
        return answer
      },
    })
  }
}
