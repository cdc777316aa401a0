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

export function protocolError(thrown: unknown): ProtocolError {
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

interface Issue {
  path?: readonly (string | number)[]
  message?: string
  /** Those of each alternative. */
  errors?: readonly (readonly Issue[])[]
}

/** The error for an exception whose message is the list of issues of the library's validator; undefined for others. */
export function invalidParams(method: string, thrown: unknown): ProtocolError | undefined {
  const issue = thrown instanceof ProtocolError ? undefined : firstIssue(thrown)
  if (issue === undefined) return undefined
  return protocolError(new SvcError('params_invalid', {operation: method, violations: [sentence(issue)]}))
}

function firstIssue(thrown: unknown): Issue | undefined {
  try {
    const [first] = JSON.parse((thrown as Error).message) as Issue[]
    return typeof first?.message === 'string' ? first : undefined
  } catch {
    return undefined
  }
}

/** Of several alternatives, the issue of the first one describes what is expected. */
function sentence({path = [], message = '', errors = []}: Issue): string {
  const [nested] = errors[0] ?? []
  if (nested !== undefined) return sentence({...nested, path: [...path, ...(nested.path ?? [])]})
  const place = path[0] === 'params' ? path.slice(1) : path
  const reason = message.replace(/^Invalid (input|option): /, '')
  return `${place.length === 0 ? 'params' : place.join('.')}: ${reason}`
}
