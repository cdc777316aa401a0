import {isErrorOf, SvcError} from '../../../errors/index.js'

const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^SQLITE_FULL/, 'the disk is full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another process has locked the database'],
  [/^SQLITE_(READONLY|PERM|CANTOPEN)/, 'permission to write the database is denied'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'the database is corrupt'],
  [/^SQLITE_IOERR/, 'disk I/O error'],
]

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** True if another process holds the required lock. */
export const isLocked = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

/** Converts errors of the driver and the file to `store_unavailable`; returns other catalogue errors unchanged. */
export function unavailable(error: unknown): SvcError {
  if (isErrorOf(error, 'store_moved'))
    return new SvcError('store_unavailable', {reason: 'its file was moved, removed or replaced'}, {cause: error})
  if (error instanceof SvcError) return error
  const [, known] = reasons.find(([code]) => code.test(codeOf(error))) ?? []
  const reason = known ?? (error instanceof Error ? error.message.replace(/\.$/, '') : String(error))
  return new SvcError('store_unavailable', {reason}, {cause: error})
}
