import {SvcError} from '../errors/index.js'
import {DetailedError} from '../operations/index.js'

/** The error of JSON-RPC; the wrapped form has the same `data`. */
export interface WireError {
  code: number
  message: string
  data: WireErrorData
}

export interface WireErrorData {
  /** Code of the error, the same on every surface. */
  kind: string
  /** What to do about it. */
  remediation: string
  /** JSON pointer to what is wrong in the params. */
  path?: string
  /** What the sentence was made of. */
  facts: object
  /** What else is to be told of it, such as the diagnostics of a program. */
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

/** Everything else. */
const failed = 1

/** An error as a client sees it. What went wrong inside is for the log, not for a client. */
export function toWireError(thrown: SvcError): WireError {
  const error =
    thrown.code === 'internal' ? new SvcError('internal', {reason: 'the log of the daemon says more'}) : thrown
  const {code: kind, status, message, hint: remediation, params: facts} = error
  const path = pathOf(error)
  const meta = error instanceof DetailedError ? {meta: error.meta} : {}
  return {
    code: byKind[kind] ?? byStatus[status] ?? failed,
    message,
    data: {kind, remediation, ...(path === undefined ? {} : {path}), facts, ...meta},
  }
}

/** The place that the first violation names: `/task_id must be integer`, or a member that is missing or unknown. */
function pathOf(error: SvcError): string | undefined {
  const {violations} = error.params as {violations?: readonly string[]}
  const [, place = '', rest = ''] = /^(\/\S*|the document)(.*)/.exec(violations?.[0] ?? '') ?? []
  if (place === '') return undefined
  const member = /required property '(.+)'$|unknown member "(.+)"$/.exec(rest)
  const name = member?.[1] ?? member?.[2]
  const parent = place.startsWith('/') ? place : ''
  return name === undefined ? parent : `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
