import type {FastifyReply, FastifyRequest} from 'fastify'
import {DatabaseFailure, Failure, isTagged, type Reply, type Route, toJson, type Value} from '../lang/index.js'
import {BadBody, BadParameters} from './parameters.js'

interface Envelope {
  status: number
  code: string
  message: string
  details?: unknown
}

/** Answers with what a handler returned. */
export function sendReply(reply: FastifyReply, {kind}: Route, {kind: ended, value, retrieval}: Reply): FastifyReply {
  if (retrieval !== undefined) reply.header('x-svc-retrieval', retrieval)
  if (ended === 'domain') return sendEnvelope(reply, domainError(value))
  if (value === undefined) return reply.code(204).send()
  if (value === null && kind === 'http')
    return sendEnvelope(reply, {status: 404, code: 'NOT_FOUND', message: 'not found'})
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(toJson(value)))
}

/** `Error("text")` says it; `Error(Variant(...))` names the variant and carries its fields. */
function domainError(value: Value): Envelope {
  const base = {status: 422, code: 'DOMAIN_ERROR'}
  if (typeof value === 'string') return {...base, message: value}
  return {...base, message: isTagged(value) ? value._tag : 'the request was refused', details: toJson(value)}
}

/** Answers with what went wrong; undefined where that is nothing of ours. */
export function sendFailure(request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply | undefined {
  if (thrown instanceof BadParameters)
    return sendEnvelope(reply, {status: 400, code: 'BAD_REQUEST', message: thrown.message, details: thrown.faults})
  if (thrown instanceof BadBody) return sendEnvelope(reply, {status: 400, code: 'BAD_REQUEST', message: thrown.message})
  if (!(thrown instanceof Failure)) return undefined
  const {reason, message} = thrown
  if (thrown instanceof DatabaseFailure && thrown.kind === 'conflict')
    return sendEnvelope(reply, {status: 409, code: 'CONFLICT', message})
  if (thrown instanceof DatabaseFailure && thrown.kind === 'busy')
    return sendEnvelope(reply.header('retry-after', '1'), {status: 503, code: 'DB_BUSY', message})
  if (thrown instanceof DatabaseFailure && thrown.kind === 'input')
    return sendEnvelope(reply, {status: 400, code: 'BAD_REQUEST', message})
  request.log.error({err: thrown.cause ?? thrown, reason, id: request.id}, message)
  return sendEnvelope(reply, {status: 500, code: 'INTERNAL_ERROR', message, details: {reason}})
}

function sendEnvelope(reply: FastifyReply, {status, code, message, details}: Envelope): FastifyReply {
  const body = {ok: false, code, message, request_id: reply.request.id, ...(details === undefined ? {} : {details})}
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}
