import type {FastifyReply, FastifyRequest, onRequestHookHandler} from 'fastify'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import type {Caller} from './auth/caller.js'
import {identify} from './auth/identify.js'
import {useUp} from './auth/json-web-token.js'
import type {ControlPlaneContext} from './context.js'
import {requireRoom} from './load.js'

interface Admitted extends FastifyRequest {
  caller: Caller
}

export const callerOf = (request: FastifyRequest): Caller => (request as Admitted).caller

/**
 * Checks permissions, rate limit and load before the request body is read. A single-use token is consumed last, so that
 * it can be sent again if another check fails. Avoids promises for opaque tokens, because it runs for every heartbeat.
 */
export function guard(operation: MeshOperation, context: ControlPlaneContext): onRequestHookHandler {
  const {plane} = routes[operation]
  const {store, scope, wrongTokens} = context
  const identity = {plane, store, scope, wrongTokens}

  function admit(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    takeFromRate(caller.id, reply, context)
    requireRoom(operation, store.depth)
    const admitted = request as Admitted
    admitted.caller = caller
  }

  /** Refused requests are rate-limited by address. */
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): never {
    if (isErrorOf(error, 'rate_limited')) retryAfter(reply, wrongTokens.wait(request.ip, store.now()))
    else takeFromRate(`refused@${request.ip}`, reply, context)
    throw error
  }

  async function admitOnce(found: Promise<Caller>, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await found.catch((error: unknown) => refuse(error, request, reply))
    admit(caller, request, reply)
    if (caller.once !== undefined) await useUp(caller.once, store)
  }

  return (request, reply, done) => {
    const found = identifyOrRefuse(request, reply)
    if (!(found instanceof Promise)) {
      admit(found, request, reply)
      return done()
    }
    admitOnce(found, request, reply).then(() => done(), done)
  }

  function identifyOrRefuse(request: FastifyRequest, reply: FastifyReply): Caller | Promise<Caller> {
    try {
      const {headers, ip, raw} = request
      return identify(context.credentials, headers.authorization, ip, identity, raw.socket)
    } catch (error) {
      return refuse(error, request, reply)
    }
  }
}

/**
 * Checks a request against the current credentials, without rate limit and without consuming a token.
 * @throws the errors of `identify`
 */
export async function admitAgain(
  operation: MeshOperation,
  {headers, ip, raw}: FastifyRequest,
  {credentials, store, scope}: ControlPlaneContext,
): Promise<void> {
  await identify(credentials, headers.authorization, ip, {plane: routes[operation].plane, store, scope}, raw.socket)
}

/** @throws rate_limited */
function takeFromRate(id: string, reply: FastifyReply, {rate}: ControlPlaneContext): void {
  if (rate === undefined) return
  const waitMs = rate.limit.take(id, performance.now())
  if (waitMs === 0) return
  retryAfter(reply, waitMs)
  throw new SvcError('rate_limited', {limit: rate.perSecond, within: 'second'})
}

const retryAfter = (reply: FastifyReply, ms: number) => reply.header('retry-after', String(Math.ceil(ms / 1000)))
