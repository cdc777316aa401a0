import {type ErrorCode, SvcError} from '../../errors/index.js'
import type {MeshOperation} from '../protocol/routes.js'
import type {Redactor} from './redactor.js'

/**
 * How a request failed: no answer came (`transport`), an answer broke off or was too long (`io`), it was not what the
 * operation answers (`json`), or it was a refusal (`http_status`).
 */
export type MeshFailure = 'io' | 'json' | 'transport' | 'http_status'

interface MeshHttpFacts {
  kind: MeshFailure
  /** Operation that was asked for. */
  context: MeshOperation
  /** What a user sees. */
  cause: SvcError
  isTransient: boolean
  mayBeDone?: boolean | undefined
  status?: number | undefined
  code?: string | undefined
  bodySnippet?: string | undefined
  retryAfterMs?: number | undefined
}

/**
 * A request to a control plane failed. Whoever has another way branches on the status; to a user it is the row of the
 * catalogue that is its cause. No secret is in it.
 */
export class MeshHttpError extends Error {
  override readonly name = 'MeshHttpError'
  override readonly cause: SvcError
  readonly kind: MeshFailure
  readonly context: MeshOperation
  /** Of the answer, where one had begun: of the kind `http_status` it is a refusal. */
  readonly status: number | undefined
  /** Of the problem, where the control plane named one: `lease_held`. */
  readonly code: string | undefined
  /** How the answer begins. */
  readonly bodySnippet: string | undefined
  /** What the control plane asked to be waited for, ms. */
  readonly retryAfterMs: number | undefined
  /** It may pass by itself: the same request can succeed later. */
  readonly isTransient: boolean
  /** What was asked for may have been done all the same: no answer of the control plane has come, or not all of it. */
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

  /** Whether what was asked for is not there, of a control plane that is. */
  get isMissing(): boolean {
    return this.status === 404 && this.cause.code !== 'control_plane_missing'
  }

  /** Whether it is a refusal with one of these statuses. */
  isStatus(...statuses: readonly number[]): boolean {
    return this.status !== undefined && statuses.includes(this.status)
  }
}

type RefusalCode = Extract<ErrorCode, 'mesh_rejected' | 'mesh_denied' | 'mesh_missing' | 'mesh_unavailable'>

/** What a status says to a user, where it is not that of its hundred. */
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

/** Rows whose hint is for those who run a server, or write its requests by hand. */
const ofServers: ReadonlySet<string> = new Set<ErrorCode>(['internal', 'unauthorized', 'route_unknown'])

/** What a control plane says of a refusal. */
export interface ReportedProblem {
  code?: string | undefined
  /** Without its full stop. */
  detail?: string | undefined
}

/** A refusal as the row that the control plane named, in its own words, or else as the row of its status. */
export function refusalOf(operation: MeshOperation, status: number, {code, detail}: ReportedProblem): SvcError {
  const ofStatus = new SvcError(refusalCode(status), {operation, status, problem: code, detail})
  if (code === undefined || ofServers.has(code)) return ofStatus
  return SvcError.fromRemote(code, detail === undefined ? ofStatus.message : `${detail}.`) ?? ofStatus
}

const longestSnippet = 240

/** How an answer begins. What is taken out of it goes before it is cut: half a secret would be found by nobody. */
export const snippetOf = (text: string, redact: Redactor): string | undefined =>
  redact(text.trim()).slice(0, longestSnippet) || undefined
