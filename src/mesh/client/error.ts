import {type ErrorCode, SvcError} from '../../errors/index.js'
import type {MeshOperation} from '../protocol/routes.js'
import type {Redactor} from './redactor.js'

/**
 * Kind of failure: no response (`transport`), an incomplete or too long response (`io`), an invalid response body
 * (`json`), or an error status (`http_status`).
 */
export type MeshFailure = 'io' | 'json' | 'transport' | 'http_status'

interface MeshHttpFacts {
  kind: MeshFailure
  context: MeshOperation
  cause: SvcError
  isTransient: boolean
  mayBeDone?: boolean | undefined
  status?: number | undefined
  code?: string | undefined
  bodySnippet?: string | undefined
  retryAfterMs?: number | undefined
}

/**
 * Failed request to a control plane. Programs branch on `status` and `code`; users see the catalogue error in `cause`.
 * Contains no secrets.
 */
export class MeshHttpError extends Error {
  override readonly name = 'MeshHttpError'
  override readonly cause: SvcError
  readonly kind: MeshFailure
  readonly context: MeshOperation
  /** Status of the response, if one had started. */
  readonly status: number | undefined
  /** Code of the problem details, such as `lease_held`. */
  readonly code: string | undefined
  /** Start of the response body. */
  readonly bodySnippet: string | undefined
  /** Value of `Retry-After`, ms. */
  readonly retryAfterMs: number | undefined
  /** True if the same request may succeed later. */
  readonly isTransient: boolean
  /** True if the request may have taken effect, because no complete response of the control plane arrived. */
  readonly mayBeDone: boolean

  constructor(facts: MeshHttpFacts) {
    const {kind, context, cause, isTransient, mayBeDone = false, status, code, bodySnippet, retryAfterMs} = facts
    super(cause.message)
    this.cause = cause
    this.kind = kind
    this.context = context
    this.isTransient = isTransient
    this.mayBeDone = mayBeDone
    this.status = status
    this.code = code
    this.bodySnippet = bodySnippet
    this.retryAfterMs = retryAfterMs
  }

  /** True if the control plane responded that the subject does not exist. */
  get isMissing(): boolean {
    return this.status === 404 && this.cause.code !== 'control_plane_missing'
  }

  isStatus(...statuses: readonly number[]): boolean {
    return this.status !== undefined && statuses.includes(this.status)
  }
}

type RefusalCode = Extract<ErrorCode, 'mesh_rejected' | 'mesh_denied' | 'mesh_missing' | 'mesh_unavailable'>

/** Errors of statuses that differ from the default of their class. */
const rowOfStatus: Readonly<Record<number, RefusalCode>> = {
  401: 'mesh_denied',
  403: 'mesh_denied',
  404: 'mesh_missing',
  408: 'mesh_unavailable',
  409: 'mesh_denied',
  410: 'mesh_missing',
  429: 'mesh_unavailable',
}

const refusalCode = (status: number): RefusalCode =>
  rowOfStatus[status] ?? (status >= 500 ? 'mesh_unavailable' : 'mesh_rejected')

/** Errors whose hints are meant for server operators. */
const serverErrors: ReadonlySet<string> = new Set<ErrorCode>(['internal', 'unauthorized', 'route_unknown'])

/** Problem details of an error response. */
export interface ReportedProblem {
  code?: string | undefined
  /** Without a trailing full stop. */
  detail?: string | undefined
}

/** Converts an error response to the catalogue error that it names, or else to that of its status. */
export function refusalOf(operation: MeshOperation, status: number, {code, detail}: ReportedProblem): SvcError {
  const ofStatus = new SvcError(refusalCode(status), {operation, status, problem: code, detail})
  if (code === undefined || serverErrors.has(code)) return ofStatus
  return SvcError.fromRemote(code, detail === undefined ? ofStatus.message : `${detail}.`) ?? ofStatus
}

const maxSnippetLength = 240

/** Start of a response body. Redacted before it is cut, because a partial secret would not be recognised. */
export const snippetOf = (text: string, redact: Redactor): string | undefined =>
  redact(text.trim()).slice(0, maxSnippetLength) || undefined
