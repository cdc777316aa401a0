import {ErrorCode, McpError} from '@modelcontextprotocol/sdk/types.js'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {RunningRequests} from './running-requests.js'

/** Error code that MCP defines in addition to those of JSON-RPC. */
const resourceNotFound = -32002

/**
 * Tracks a request and reports its errors as protocol errors. Tools do not use it: they report errors in an envelope.
 */
export const answering = <T>(running: RunningRequests, answer: () => Promise<T>): Promise<T> =>
  running.add(
    answer().catch((thrown: unknown) => {
      throw protocolError(thrown)
    }),
  )

function protocolError(thrown: unknown): McpError {
  if (thrown instanceof McpError) return thrown
  const {code, message, hint, status} = SvcError.from(thrown)
  if (code === 'internal') {
    logger('mcp').error({err: thrown}, message)
    return new McpError(ErrorCode.InternalError, 'Internal error; see the server log for details.')
  }
  if (code === 'resource_not_found') return new McpError(resourceNotFound, message, {code, remediation: hint})
  const number = status < 500 ? ErrorCode.InvalidParams : ErrorCode.InternalError
  return new McpError(number, message, {code, remediation: hint})
}
