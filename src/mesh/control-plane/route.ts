import type {FastifyReply, FastifyRequest} from 'fastify'
import {SvcError} from '../../errors/index.js'
import type {HttpApp} from '../../net/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import type {Caller} from './auth/caller.js'
import type {ControlPlaneContext} from './context.js'
import {callerOf, guard} from './guard.js'

/** A request that may be answered. */
export interface Asked {
  caller: Caller
  /** Parsed, and not looked at further. */
  body: unknown
  query: object
  reply: FastifyReply
}

/** Answers a request with JSON that is written already, or, where the route has no content, with nothing. */
export type Handler = (asked: Asked, context: ControlPlaneContext) => Promise<string | Buffer | undefined>

/** The handlers of some operations, by their names. */
export type Handlers = Readonly<Partial<Record<MeshOperation, Handler>>>

const json = 'application/json; charset=utf-8'

/** Serves operations at the places of the table of routes, to those who may. */
export function serveRoutes(app: HttpApp, context: ControlPlaneContext, handlers: Handlers): void {
  const {metrics} = context
  // Set for every request beforehand, so that all of them have one shape.
  app.decorateRequest('caller', null)
  for (const [name, handle] of Object.entries(handlers)) {
    const operation = name as MeshOperation
    const {method, path: url, ok} = routes[operation]
    app.route({
      method,
      url,
      onRequest: guard(operation, context),
      // Only where something is wrong: a hook for every answer would cost each heartbeat.
      onError: (_request, _reply, error, done) => {
        metrics.answered(operation, error instanceof SvcError ? error.status : (error.statusCode ?? 500))
        done()
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const {body, query} = request
        const answer = await handle({caller: callerOf(request), body, query: query as object, reply}, context)
        metrics.answered(operation, ok)
        reply.code(ok)
        if (answer !== undefined && !reply.hasHeader('content-type')) reply.header('content-type', json)
        return answer
      },
    })
  }
}
