import {SvcError} from '../../errors/index.js'
import {Receipt} from '../../llm/index.js'
import {isJsonObject} from '../body.js'
import {ReceivedReply} from './reply-content.js'

type Json = Readonly<Record<string, unknown>>

/** A receipt, and what a client sent and received, as far as it was kept. */
export interface Exchange {
  receipt: Receipt
  /** Both or none. */
  asked?: {request: Json; reply: ReceivedReply}
}

/**
 * Reads a receipt, or a JSON object `{receipt, request, reply}`.
 * @throws receipt_malformed, exchange_invalid
 */
export function parseExchange(source: string): Exchange {
  const trimmed = source.trim()
  if (!trimmed.startsWith('{')) return {receipt: Receipt.parse(trimmed)}
  const {receipt: stated, request, reply} = parseObject(trimmed)
  if (typeof stated !== 'string') throw invalid('it has no receipt')
  const receipt = Receipt.parse(stated.trim())
  if (request === undefined && reply === undefined) return {receipt}
  if (!isJsonObject(request)) throw invalid('its request is not an object')
  const received = ReceivedReply.of(reply)
  if (received === undefined) throw invalid('its reply is not from a route that generates text')
  return {receipt, asked: {request: request as Json, reply: received}}
}

const invalid = (reason: string) => new SvcError('exchange_invalid', {reason})

function parseObject(source: string): Json {
  try {
    return JSON.parse(source)
  } catch {
    throw invalid('it is not JSON')
  }
}
