import type {FastifyBaseLogger, FastifyReply} from 'fastify'
import {DatabaseFailure, Failure, isTagged, type Reply, type Route, toJson, type Value} from '../lang/index.js'
import {BadBody, BadParameters} from './parameters.js'

/** An HTTP response, from the main thread or a read thread. */
export interface Answer {
  status: number
  /** JSON. */
  body?: string
  headers?: Record<string, string> | undefined
  /** The details of a failure, for the log. */
  failure?: {reason: string; message: string; error: unknown}
}

interface Envelope {
  status: number
  code: string
  message: string
  details?: unknown
}

/** The response for the result of a handler. */
export function answerOf({kind}: Route, {kind: ended, value, retrieval}: Reply, requestId: string): Answer {
  const headers = retrieval === undefined ? undefined : {'x-svc-retrieval': retrieval}
  if (ended === 'domain') return {...inEnvelope(domainError(value), requestId), headers}
  if (value === undefined) return {status: 204, headers}
  if (value === null && kind === 'http')
    return {...inEnvelope({status: 404, code: 'NOT_FOUND', message: 'not found'}, requestId), headers}
  return {status: 200, body: JSON.stringify(toJson(value)), headers}
}

/** `Error("text")` has the text as its message; `Error(Variant(...))` the variant name, with its fields as details. */
function domainError(value: Value): Envelope {
  const base = {status: 422, code: 'DOMAIN_ERROR'}
  if (typeof value === 'string') return {...base, message: value}
  return {...base, message: isTagged(value) ? value._tag : 'the endpoint returned an error', details: toJson(value)}
}

/** The response for a failure; undefined for any other exception. */
export function answerOfFailure(thrown: unknown, requestId: string): Answer | undefined {
  const envelope = (status: number, code: string, message: string, details?: unknown) =>
    inEnvelope({status, code, message, details}, requestId)
  if (thrown instanceof BadParameters) return envelope(400, 'BAD_REQUEST', thrown.message, thrown.errors)
  if (thrown instanceof BadBody) return envelope(400, 'BAD_REQUEST', thrown.message)
  if (!(thrown instanceof Failure)) return undefined
  const {reason, message} = thrown
  if (thrown instanceof DatabaseFailure && thrown.kind === 'conflict') return envelope(409, 'CONFLICT', message)
  if (thrown instanceof DatabaseFailure && thrown.kind === 'busy')
    return {...envelope(503, 'DB_BUSY', message), headers: {'retry-after': '1'}}
  if (thrown instanceof DatabaseFailure && thrown.kind === 'input') return envelope(400, 'BAD_REQUEST', message)
  const failure = {reason, message, error: thrown.cause ?? thrown}
  return {...envelope(500, 'INTERNAL_ERROR', message, {reason}), failure}
}

function inEnvelope({status, code, message, details}: Envelope, requestId: string): Answer {
  const body = {ok: false, code, message, request_id: requestId, ...(details === undefined ? {} : {details})}
  return {status, body: JSON.stringify(body)}
}

/** Logs the details of a failure. */
export function logFailure(log: Pick<FastifyBaseLogger, 'error'>, id: string, {failure}: Answer): void {
  if (failure !== undefined) log.error({err: failure.error, reason: failure.reason, id}, failure.message)
}

export function send(reply: FastifyReply, {status, body, headers}: Answer): FastifyReply {
  if (headers !== undefined) reply.headers(headers)
  reply.code(status)
  return body === undefined ? reply.send() : reply.type('application/json; charset=utf-8').send(body)
}
