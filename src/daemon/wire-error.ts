import {SvcError} from '../errors/index.js'
import {DetailedError} from '../operations/index.js'

/** JSON-RPC error. The wrapped form has the same `data`. */
export interface WireError {
  code: number
  message: string
  data: WireErrorData
}

export interface WireErrorData {
  /** Code of the error, the same on every surface. */
  kind: string
  /** How to fix the error. */
  remediation: string
  /** JSON pointer to the invalid member of the params. */
  path?: string
  facts: object
  /** Additional details, such as the diagnostics of a program. */
  meta?: object
}

const byKind: Readonly<Record<string, number>> = {
  request_unparsable: -32_700,
  request_invalid: -32_600,
  request_too_long: -32_600,
  method_unknown: -32_601,
}

const byStatus: Readonly<Record<number, number>> = {
  400: -32_602,
  401: 403,
  403: 403,
  404: 404,
  409: 409,
  429: 503,
  502: 503,
  503: 503,
  504: 504,
}

/** Code of all other errors. */
const failed = 1

/** Converts an error for a client. Details of internal errors are only logged. */
export function toWireError(thrown: SvcError): WireError {
  const error =
    thrown.code === 'internal' ? new SvcError('internal', {reason: 'see the daemon log for details'}) : thrown
  const {code: kind, status, message, hint: remediation, params: facts} = error
  const path = pathOf(error)
  const meta = error instanceof DetailedError ? {meta: error.meta} : {}
  return {
    code: byKind[kind] ?? byStatus[status] ?? failed,
    message,
    data: {kind, remediation, ...(path === undefined ? {} : {path}), facts, ...meta},
  }
}

/** JSON pointer of the first violation, such as `/task_id must be integer`, or of a missing or unknown member. */
function pathOf(error: SvcError): string | undefined {
  const {violations} = error.params as {violations?: readonly string[]}
  const [, place = '', rest = ''] = /^(\/\S*|the document)(.*)/.exec(violations?.[0] ?? '') ?? []
  if (place === '') return undefined
  const member = /required property '(.+)'$|unknown member "(.+)"$/.exec(rest)
  const name = member?.[1] ?? member?.[2]
  const parent = place.startsWith('/') ? place : ''
  return name === undefined ? parent : `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
