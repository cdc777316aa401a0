import {SvcError} from '../errors/index.js'
import {inexactNumber} from '../files/index.js'
import type {Line} from './framing.js'
import {toWireError} from './wire-error.js'

export type Form = 'json-rpc' | 'wrapped'

/** Id as permitted by JSON-RPC; undefined for a notification, which gets no response. */
export type RequestId = string | number | null | undefined

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
const maxMethodLength = 256

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
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return refusalOf(line, unparsable(error), form)
  }
  const parsed = read(value)
  if ('error' in parsed) return parsed
  const fault = inexactNumber(line)
  return fault === undefined ? parsed : refusalOf(line, new SvcError('request_unparsable', {reason: fault}), form)
}

function read(value: unknown): ParsedLine {
  if (Array.isArray(value)) return {entries: value}
  if (isObject(value) && value.jsonrpc === '2.0') return readJsonRpc(value)
  return readWrapped(value)
}

export function readEntry(value: unknown): Request | Refusal {
  if (isObject(value) && value.jsonrpc === '2.0') return readJsonRpc(value)
  const id = isObject(value) && isId(value.id) ? value.id : null
  return {form: 'json-rpc', id, error: invalid('a batch must contain JSON-RPC 2.0 requests')}
}

type Members = Readonly<Record<string, unknown>>

function readJsonRpc(value: Members): Request | Refusal {
  const {id, method, params} = value
  const form = 'json-rpc'
  if (id !== undefined && !isId(id))
    return {form, id: null, error: invalid('"id" must be a string, a number (integers up to 2^53 - 1), or null')}
  if (!isMethod(method)) return {form, id: id ?? null, error: invalid(`"method" must be ${methodWords}`)}
  // Some clients send null instead of omitting the params.
  if (params === undefined || params === null) return {form, id, method, params: {}}
  if (typeof params !== 'object') return {form, id: id ?? null, error: invalid('"params" must be an object or omitted')}
  return {form, id, method, params}
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

const refuseWrapped = (reason: string): Refusal => ({form: 'wrapped', id: unknownId, error: invalid(reason)})

/** Refuses text that is not JSON, in the form that it seems to have, or else in that of the last line. */
function refusalOf(text: string, error: SvcError, last: Form): Refusal {
  const form = jsonRpcMark.test(text) ? 'json-rpc' : last
  return {form, id: form === 'json-rpc' ? null : unknownId, error}
}

/** Does not use the engine's own message, because that quotes part of the text. */
function unparsable(error: unknown): SvcError {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  const place = position === undefined ? '' : ` (at character ${position})`
  return new SvcError('request_unparsable', {reason: `the line is not JSON${place}`}, {cause: error})
}

const invalid = (reason: string) => new SvcError('request_invalid', {reason})

const methodWords = `a string of 1 to ${maxMethodLength} characters`
const isMethod = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxMethodLength

/** Excludes unsafe integers, which would be returned as a different number. */
const isId = (value: unknown): value is string | number | null =>
  typeof value === 'string' ||
  value === null ||
  (typeof value === 'number' && (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))))

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
