import {SvcError} from '../../../errors/index.js'

const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^SQLITE_FULL/, 'its disk is full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'another process has locked it'],
  [/^SQLITE_(READONLY|PERM|CANTOPEN)/, 'it may not write its file'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'its file is damaged'],
  [/^SQLITE_IOERR/, 'its disk does not answer'],
]

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** Whether another process has the lock that is needed. */
export const isLocked = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

/** Any fault below as `store_unavailable`; what is refused stays what it is. */
export function unavailable(error: unknown): SvcError {
  if (error instanceof SvcError) return error
  const [, known] = reasons.find(([code]) => code.test(codeOf(error))) ?? []
  const reason = known ?? (error instanceof Error ? error.message.replace(/\.$/, '') : String(error))
  return new SvcError('store_unavailable', {reason}, {cause: error})
}
