import {
  invalidMessage,
  isMethod,
  isObject,
  type MessageId,
  methodWords,
  parseMessage,
  readRequest,
} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {Line} from './framing.js'
import {toWireError} from './wire-error.js'

export type Form = 'json-rpc' | 'wrapped'

/** Null in the answer to a message without a readable id; undefined for a notification, which gets no answer. */
export type RequestId = MessageId | null

export interface Request {
  form: Form
  id: RequestId
  method: string
  params: unknown
}

export interface Refusal {
  form: Form
  id: RequestId
  error: SvcError
}

export type ParsedLine = Request | Refusal | {entries: readonly unknown[]}

/** Id of responses to invalid requests of the wrapped form. */
const unknownId = '0'
const jsonRpcMark = /"jsonrpc"\s*:\s*"2\.0"/
const members = ['id', 'method', 'params']

/**
 * Parses a line.
 * @param maxBytes maximum length of a line, for the error message
 * @param form form of the last valid line, used for the response if the form of this line is unknown
 */
export function readLine(line: Line, maxBytes: number, form: Form = 'wrapped'): ParsedLine {
  if (typeof line !== 'string') {
    const error =
      line.problem === 'too_long'
        ? new SvcError('request_too_long', {limit: maxBytes})
        : new SvcError('request_unparsable', {reason: 'the line is not UTF-8'})
    return refusalOf(line.head, error, form)
  }
  const {value, refusal: fault} = parseMessage(line)
  if (fault === undefined) return read(value, form)
  const {id, error} = fault
  const refusal = refusalOf(line, error, form)
  return refusal.form === 'json-rpc' ? {...refusal, id} : refusal
}

/** A message of neither form is refused in that of the last line. */
function read(value: unknown, last: Form): ParsedLine {
  if (Array.isArray(value)) return {entries: value}
  if (isObject(value) && value.jsonrpc === '2.0') return readEntry(value)
  const wrapped = readWrapped(value)
  return 'error' in wrapped && last === 'json-rpc' ? readEntry(value) : wrapped
}

/** Reads a JSON-RPC message. */
export function readEntry(value: unknown): Request | Refusal {
  const message = readRequest(value)
  if ('error' in message) return {form: 'json-rpc', ...message}
  return {form: 'json-rpc', ...message, params: message.params ?? {}}
}

function readWrapped(value: unknown): Request | Refusal {
  if (!isObject(value)) return refuseWrapped('a request must be an object')
  const {id, method, params} = value
  if ('jsonrpc' in value) return refuseWrapped('"jsonrpc" must be "2.0"')
  const missing = members.find((name) => !(name in value))
  if (missing !== undefined) return refuseWrapped(`"${missing}" is missing`)
  if (typeof id !== 'string') return refuseWrapped('"id" must be a string')
  if (!isMethod(method)) return refuseWrapped(`"method" must be ${methodWords}`)
  if (!isObject(params)) return refuseWrapped('"params" must be an object')
  const unknown = Object.keys(value).find((name) => !members.includes(name))
  if (unknown !== undefined) return refuseWrapped(`it has an unknown member ${JSON.stringify(unknown.slice(0, 64))}`)
  return {form: 'wrapped', id, method, params}
}

const refuseWrapped = (reason: string): Refusal => ({form: 'wrapped', id: unknownId, error: invalidMessage(reason)})

/** Refuses text that is not JSON, in the form that it seems to have, or else in that of the last line. */
function refusalOf(text: string, error: SvcError, last: Form): Refusal {
  const form = jsonRpcMark.test(text) ? 'json-rpc' : last
  return {form, id: form === 'json-rpc' ? null : unknownId, error}
}

/** Serializes a result, without line end; empty for a notification. */
export function resultOf({form, id}: Pick<Request, 'form' | 'id'>, value: unknown): string {
  if (id === undefined) return ''
  const text = JSON.stringify(value) ?? 'null'
  return form === 'json-rpc'
    ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`
    : `{"id":${JSON.stringify(id)},"payload":{"type":"result","value":${text}}}`
}

/** Serializes an error, without line end; empty for a notification. */
export function failureOf({form, id}: Pick<Request, 'form' | 'id'>, error: SvcError): string {
  if (id === undefined) return ''
  const wire = toWireError(error)
  if (form === 'json-rpc') return JSON.stringify({jsonrpc: '2.0', id, error: wire})
  const {message, data} = wire
  return JSON.stringify({id, payload: {type: 'error', message, code: 1, kind: data.kind, data}})
}
