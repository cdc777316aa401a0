import type {ChainOp, Table} from '../check/index.js'
import type {Span} from '../diagnostics/index.js'

/** Why a handler was aborted. */
export type FailureReason =
  | 'DIVISION_BY_ZERO'
  | 'INT_OVERFLOW'
  | 'INDEX_OUT_OF_RANGE'
  | 'KEY_MISSING'
  | 'UNWRAP'
  | 'ASSERTION_FAILED'
  | 'CONVERSION'
  | 'COLUMN_NOT_SELECTED'
  | 'NOT_STORABLE'
  | 'DB_ERROR'
  | 'DB_DECODE'
  | 'STEP_LIMIT'
  | 'STACK_LIMIT'
  | 'TIMEOUT'
  | 'unsafe_query_raw_clause'

/** A run-time failure: it ends the handler and rolls back a mutation. The message contains no SQL or stack trace. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly reason: FailureReason
  /** The source of a failed `assert`. */
  readonly span: Span | undefined

  constructor(
    reason: FailureReason,
    message: string,
    {span, ...options}: ErrorOptions & {span?: Span | undefined} = {},
  ) {
    super(message, options)
    this.reason = reason
    this.span = span
  }
}

/** A database failure, which a program can handle through the outcome of an operation. */
export class DatabaseFailure extends Failure {
  /** `conflict`: a constraint was violated. `busy`: another process holds the lock. `input`: a value cannot be used. */
  readonly kind: 'conflict' | 'busy' | 'input' | 'other'

  constructor(kind: DatabaseFailure['kind'], message: string, options?: ErrorOptions) {
    super('DB_ERROR', message, options)
    this.kind = kind
  }
}

/** What a failed statement did. */
export interface Attempt {
  readonly table: Table
  readonly op?: ChainOp
}

/** Converts an exception of SQLite to a failure of the program. */
export function databaseFailure(thrown: unknown, attempt?: Attempt): unknown {
  if (!(thrown instanceof Error) || thrown instanceof Failure) return thrown
  const {code = '', message} = thrown as NodeJS.ErrnoException
  if (!code.startsWith('SQLITE')) return thrown
  if (code.startsWith('SQLITE_CONSTRAINT'))
    return new DatabaseFailure('conflict', conflictText(message, attempt), {cause: thrown})
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new DatabaseFailure('busy', 'the database is locked by another process', {cause: thrown})
  if (message === 'integer overflow')
    return new Failure('INT_OVERFLOW', `a sum exceeds ±${Number.MAX_SAFE_INTEGER}`, {cause: thrown})
  if (/too complex/.test(message)) return new DatabaseFailure('input', 'the search text is too long', {cause: thrown})
  return new DatabaseFailure('other', 'the database operation failed', {cause: thrown})
}

/** Why a constraint refused a row. Names the columns of a unique index, or else the index. */
function conflictText(message: string, attempt: Attempt | undefined): string {
  const table = attempt?.table
  if (attempt !== undefined && message === 'FOREIGN KEY constraint failed') return referenceText(attempt)
  const [, checked] = /^CHECK constraint failed: svc_check_(.+)$/.exec(message) ?? []
  if (checked !== undefined) {
    const condition = table?.columns.find(({name, was}) => name === checked || was === checked)?.check?.text
    return condition === undefined
      ? `the condition of column ${checked} is not met`
      : `${checked} does not meet check(${condition})`
  }
  const [, name] = /^UNIQUE constraint failed: index '(.+)'$/.exec(message) ?? []
  if (name !== undefined) {
    // An index with a computed key, such as that of a dec column, or one that another program created.
    const index = table?.indexes.find(({sqlName}) => sqlName === name)
    if (index === undefined) return `another row has the same key in the unique index ${name}`
    return sameColumns(
      index.table.sqlName,
      index.columns.map((column) => column.name),
    )
  }
  const [, columns] = /^UNIQUE constraint failed: (\w+\.\w+(?:, \w+\.\w+)*)$/.exec(message) ?? []
  if (columns === undefined) return message
  const keys = columns.split(', ').map((column) => column.split('.'))
  return sameColumns(
    keys[0]?.[0] ?? '',
    keys.map(([, column = '']) => column),
  )
}

function referenceText({table, op}: Attempt): string {
  if (op === 'delete' || op === 'delete_where') {
    const others = new Set((table.referrers ?? []).map((referrer) => referrer.table.name))
    return `rows of ${[...others].join(' or ')} refer to this row of ${table.name}`
  }
  const columns = table.columns.filter(({onDelete}) => onDelete !== undefined).map(({name}) => name)
  return `${columns.join(' or ')} of ${table.name} refers to a row that does not exist`
}

const sameColumns = (table: string, columns: readonly string[]) =>
  `another row of ${table} has the same ${columns.join(' and ')}`
