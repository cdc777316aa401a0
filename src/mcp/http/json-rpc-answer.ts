import {isJSONRPCRequest, type JSONRPCMessage} from '@modelcontextprotocol/server'
import {isObject, type MessageRefusal} from '../../contracts/index.js'
import {isRefusal, readBatch, readMessage, refusalAnswer} from '../messages.js'

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

/** The answer of the gateway to JSON-RPC: that of the other transports, but `ping` is its only method. */
export function jsonRpcAnswer(value: unknown): object | undefined {
  if (!Array.isArray(value)) return answerOf(readMessage(value))
  const batch = readBatch(value)
  if (isRefusal(batch)) return refusalAnswer(batch)
  const answers = [...batch.refusals, ...batch.messages].flatMap((read) => answerOf(read) ?? [])
  return answers.length === 0 ? undefined : answers
}

function answerOf(read: JSONRPCMessage | MessageRefusal): object | undefined {
  if (isRefusal(read)) return refusalAnswer(read)
  if (!isJSONRPCRequest(read)) return undefined
  const {id, method} = read
  if (method === 'ping') return {jsonrpc: '2.0', id, result: {}}
  const message = 'Method not found: over WebSocket, use messages of the types list_tools and call_tool.'
  return {jsonrpc: '2.0', id, error: {code: -32_601, message}}
}
