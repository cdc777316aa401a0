import {isJSONRPCRequest, type JSONRPCMessage, parseJSONRPCMessage, type RequestId} from '@modelcontextprotocol/server'
import {invalidMessage, isObject, type MessageRefusal, readRequest} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'

/** Maximum number of messages in a batch. */
const maxBatch = 100

/** A message that the MCP library accepts. It drops others without an answer. */
export function readMessage(value: unknown): JSONRPCMessage | MessageRefusal {
  if (isResponse(value)) return parsed(value) ?? {id: null, error: invalidMessage('it is no valid response')}
  const request = readRequest(value)
  if ('error' in request) return request
  const {id, method, params} = request
  const message = parsed({
    jsonrpc: '2.0',
    method,
    ...(id === undefined ? {} : {id}),
    ...(params === undefined ? {} : {params}),
  })
  if (message !== undefined) return message
  const violations = ['"params._meta" must be an object as the protocol defines it']
  return {id: id ?? null, error: new SvcError('params_invalid', {operation: method, violations})}
}

export interface ReadBatch {
  messages: JSONRPCMessage[]
  refusals: MessageRefusal[]
}

/** The messages of a batch, which revisions until 2025-03-26 have. */
export function readBatch(entries: readonly unknown[]): ReadBatch | MessageRefusal {
  if (entries.length === 0) return {id: null, error: invalidMessage('the batch is empty')}
  if (entries.length > maxBatch)
    return {id: null, error: invalidMessage(`the batch has more than ${maxBatch} messages`)}
  const batch: ReadBatch = {messages: [], refusals: []}
  const ids = new Set<RequestId>()
  for (const entry of entries) {
    const message = readMessage(entry)
    if (isRefusal(message)) batch.refusals.push(message)
    else if (!isJSONRPCRequest(message)) batch.messages.push(message)
    else if (message.method === 'initialize')
      batch.refusals.push({id: message.id, error: invalidMessage('"initialize" cannot be part of a batch')})
    else if (ids.has(message.id))
      batch.refusals.push({id: message.id, error: invalidMessage('another request of the batch has the same "id"')})
    else {
      ids.add(message.id)
      batch.messages.push(message)
    }
  }
  return batch
}

export const isRefusal = (read: object): read is MessageRefusal => (read as MessageRefusal).error instanceof SvcError

/** True for the answer of the client to a request of the server. */
export const isResponse = (value: unknown): boolean =>
  isObject(value) && value.jsonrpc === '2.0' && !('method' in value) && ('result' in value || 'error' in value)

const numbers: Readonly<Record<string, number>> = {request_unparsable: -32_700, params_invalid: -32_602}

/** The answer to a message that is refused. */
export const refusalAnswer = ({id, error: {code, message, hint: remediation}}: MessageRefusal) => ({
  jsonrpc: '2.0' as const,
  id,
  error: {code: numbers[code] ?? -32_600, message, data: {code, remediation}},
})

function parsed(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return undefined
  }
}
