import pg from 'pg'
import {SvcError} from '../../../errors/index.js'

const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^40(001|P01)$/, 'too many requests change the same rows'],
  [/^53100$/, 'its disk is full'],
  [/^53300$/, 'it has too many connections'],
  [/^57P0[1-3]$/, 'it is starting or stopping'],
  [/^57014$/, 'a statement took too long'],
  [/^25006$/, 'it is read-only'],
  [/^42501$/, 'permission to use a table is denied'],
  [/^28/, 'it rejects the user or password'],
  [/^3D000$/, 'the database does not exist'],
]

/** A proxy accepts a client before it has a connection for it. */
const noAnswer = 'it does not answer; a proxy may have no free connection to it'

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** True if the server has rejected a statement, so that it has changed nothing. */
export const isRejected = (error: unknown): boolean => error instanceof pg.DatabaseError && !isDisconnected(error)

/** True if the server has ended the connection. */
const isDisconnected = (error: unknown): boolean => /^(08|57P0)/.test(codeOf(error))

/** True for deadlocks and serialisation failures. */
const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error))

/** True if a statement could not be sent, because the connection was already lost. */
const isUnsent = (error: unknown): boolean =>
  codeOf(error) === 'EPIPE' || (error instanceof Error && /not queryable/.test(error.message))

/** True if the same statements can be sent again: they have changed nothing, and the cause has passed. */
export const isRepeatable = (error: unknown): boolean => isConflict(error) || isUnsent(error)

/** Why a request to the server failed, without a period. */
export function reasonOf(error: unknown): string {
  const [, known] = reasons.find(([code]) => code.test(codeOf(error))) ?? []
  // Connection attempts to several addresses fail with an error without a message.
  const cause = error instanceof AggregateError ? error.errors[0] : error
  if (known !== undefined) return known
  const message = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
  return message === 'Query read timeout' ? noAnswer : message
}

/**
 * Converts driver errors to `store_unavailable`, or to `store_outcome_unknown` if a statement was sent and not answered;
 * returns catalogue errors unchanged.
 * @param server name of the server without credentials
 */
export function unavailable(error: unknown, server: string, isSent: boolean): SvcError {
  if (error instanceof SvcError) return error
  const code = isSent && !isRejected(error) && !isUnsent(error) ? 'store_outcome_unknown' : 'store_unavailable'
  return new SvcError(code, {reason: `${server}: ${reasonOf(error)}`}, {cause: error})
}
