import type {FastifyReply, FastifyRequest, onRequestHookHandler} from 'fastify'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import type {Caller} from './auth/caller.js'
import {identify} from './auth/identify.js'
import {useUp} from './auth/json-web-token.js'
import type {ControlPlaneContext} from './context.js'
import {requireRoom} from './load.js'

/** A request whose sender is known. */
interface Admitted extends FastifyRequest {
  caller: Caller
}

export const callerOf = (request: FastifyRequest): Caller => (request as Admitted).caller

/**
 * Who may ask for an operation, how often, and whether there is room for it now: before the body of the request is read.
 * A token that is good for one request is used up last, so that whoever has to come again can. Takes no promise where
 * the caller is known at once, since it runs with every heartbeat.
 */
export function guard(operation: MeshOperation, context: ControlPlaneContext): onRequestHookHandler {
  const {plane} = routes[operation]
  const {store, scope, wrongTokens} = context
  const identity = {plane, store, scope, wrongTokens}

  function admit(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    takeTurn(caller.id, reply, context)
    requireRoom(operation, store.depth)
    const admitted = request as Admitted
    admitted.caller = caller
  }

  /** Whoever is not known, or may not, takes turns by the address. */
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): never {
    if (isErrorOf(error, 'rate_limited')) retryAfter(reply, wrongTokens.wait(request.ip, store.now()))
    else takeTurn(`refused@${request.ip}`, reply, context)
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
 * Holds who asked against the secrets of now; takes no turn, and uses up no token.
 * @throws what `identify` throws
 */
export async function admitAgain(
  operation: MeshOperation,
  {headers, ip, raw}: FastifyRequest,
  {credentials, store, scope}: ControlPlaneContext,
): Promise<void> {
  await identify(credentials, headers.authorization, ip, {plane: routes[operation].plane, store, scope}, raw.socket)
}

/** @throws rate_limited */
function takeTurn(id: string, reply: FastifyReply, {rate}: ControlPlaneContext): void {
  if (rate === undefined) return
  const waitMs = rate.limit.take(id, performance.now())
  if (waitMs === 0) return
  retryAfter(reply, waitMs)
  throw new SvcError('rate_limited', {limit: rate.perSecond, within: 'second'})
}

const retryAfter = (reply: FastifyReply, ms: number) => reply.header('retry-after', String(Math.ceil(ms / 1000)))
