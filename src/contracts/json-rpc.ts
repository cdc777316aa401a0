import {SvcError} from '../errors/index.js'
import {inexactNumber} from '../files/index.js'
import {isObject} from './plain-check.js'

/** Id of a request; undefined for a notification. Neither JSON-RPC clients nor those of MCP need null or fractions. */
export type MessageId = string | number | undefined

/** Why a message cannot be processed, and the id of the answer: null if the message has none that can be read. */
export interface MessageRefusal {
  id: string | number | null
  error: SvcError
}

export type Members = Readonly<Record<string, unknown>>

export interface RequestMessage {
  id: MessageId
  method: string
  /** Undefined if the message has none. */
  params: Members | undefined
}

const maxMethodLength = 256

export interface ParsedMessage {
  /** Undefined if the text is not JSON. */
  value?: unknown
  /** Why the message cannot be processed. */
  refusal?: MessageRefusal
}

/** Parses the text of a message. A byte order mark before it is ignored, as RFC 8259 permits. */
export function parseMessage(text: string): ParsedMessage {
  const json = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return {refusal: {id: null, error: unparsable(error)}}
  }
  const fault = inexactNumber(json)
  return fault === undefined ? {value} : {value, refusal: {id: readableId(value), error: invalidMessage(fault)}}
}

/** Checks a request or notification. */
export function readRequest(value: unknown): RequestMessage | MessageRefusal {
  if (!isObject(value)) return {id: null, error: invalidMessage('a request must be an object')}
  const {jsonrpc, id, method, params} = value
  const refuse = (error: SvcError): MessageRefusal => ({id: readableId(value), error})
  if (jsonrpc !== '2.0') return refuse(invalidMessage('"jsonrpc" must be "2.0"'))
  if (id !== undefined && !isId(id))
    return refuse(invalidMessage('"id" must be a string or an integer from -2^53 + 1 to 2^53 - 1'))
  if (!isMethod(method)) return refuse(invalidMessage(`"method" must be ${methodWords}`))
  if (params === undefined || isObject(params)) return {id, method, params}
  return refuse(new SvcError('params_invalid', {operation: method, violations: ['"params" must be an object']}))
}

export const methodWords = `a string of 1 to ${maxMethodLength} characters`
export const isMethod = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxMethodLength

export const invalidMessage = (reason: string) => new SvcError('request_invalid', {reason})

/** Excludes integers that `JSON.parse` rounds: the answer would have another id. */
const isId = (value: unknown): value is string | number => typeof value === 'string' || Number.isSafeInteger(value)

/** The id as its sender can recognise it, even if it is not valid; null if there is none. */
function readableId(value: unknown): string | number | null {
  const id = isObject(value) ? value.id : undefined
  if (isId(id)) return id
  return typeof id === 'number' && Number.isFinite(id) && !Number.isInteger(id) ? id : null
}

/** Does not use the message of the engine, which quotes part of the text. */
function unparsable(error: unknown): SvcError {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  const place = position === undefined ? '' : ` (at character ${position})`
  return new SvcError('request_unparsable', {reason: `it is not JSON${place}`}, {cause: error})
}
