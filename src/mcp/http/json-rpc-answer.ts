import {isJSONRPCRequest, type JSONRPCMessage} from '@modelcontextprotocol/server'
import {isObject, type MessageRefusal} from '../../contracts/index.js'
import {isRefusal, readBatch, readMessage, refusalAnswer} from '../messages.js'
import {protocolError} from '../protocol-error.js'
import {skillResult} from '../skills.js'

/**
 * True for a message of JSON-RPC, false for one of the gateway.
 * @param value undefined if the text is not JSON
 * @param last what the last message was, which decides about texts of neither
 */
export function isJsonRpc(value: unknown, text: string, last: boolean): boolean {
  if (value === undefined) return last || /"jsonrpc"\s*:/.test(text)
  if (!isObject(value)) return last || Array.isArray(value)
  return 'jsonrpc' in value || ('method' in value && !('type' in value))
}

/** The answer of the gateway to JSON-RPC: that of the other transports, but only for `ping` and the methods of skills. */
export async function jsonRpcAnswer(value: unknown): Promise<object | undefined> {
  if (!Array.isArray(value)) return answerOf(readMessage(value))
  const batch = readBatch(value)
  if (isRefusal(batch)) return refusalAnswer(batch)
  const answers = (await Promise.all([...batch.refusals, ...batch.messages].map(answerOf))).flatMap(
    (each) => each ?? [],
  )
  return answers.length === 0 ? undefined : answers
}

async function answerOf(read: JSONRPCMessage | MessageRefusal): Promise<object | undefined> {
  if (isRefusal(read)) return refusalAnswer(read)
  if (!isJSONRPCRequest(read)) return undefined
  const {id, method, params = {}} = read
  if (method === 'ping') return {jsonrpc: '2.0', id, result: {}}
  try {
    const result = await skillResult(method, params)
    if (result !== undefined) return {jsonrpc: '2.0', id, result}
  } catch (thrown) {
    const {code, message, data} = protocolError(thrown)
    return {jsonrpc: '2.0', id, error: {code, message, data}}
  }
  const message = 'Method not found: over WebSocket, use messages of the types list_tools and call_tool.'
  return {jsonrpc: '2.0', id, error: {code: -32_601, message}}
}
