import {ProtocolError, ProtocolErrorCode} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {RunningRequests} from './running-requests.js'

/**
 * Tracks a request and reports its errors as protocol errors. Tools do not use it: they report errors in an envelope.
 */
export const answering = <T>(running: RunningRequests, answer: () => Promise<T>): Promise<T> =>
  running.add(
    answer().catch((thrown: unknown) => {
      throw protocolError(thrown)
    }),
  )

function protocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const {code, message, hint, status, params} = SvcError.from(thrown)
  if (code === 'internal') {
    logger('mcp').error({err: thrown}, message)
    return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error; see the server log for details.')
  }
  const number = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  const details = code === 'resource_not_found' ? params : {}
  return new ProtocolError(number, message, {code, remediation: hint, ...details})
}
