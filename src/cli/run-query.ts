import type {Database} from 'better-sqlite3'
import {nearest, SvcError} from '../errors/index.js'
import type {Ports} from '../lang/index.js'

export interface QueryOptions {
  path: string
  /** Source of the program; undefined: the text is SQL. */
  source: string | undefined
  ports: Ports
}

/** Evaluates an expression or one read-only SQL statement to JSON. @throws sql_invalid, expression_invalid, expression_failed */
export const runQuery = (text: string, {path, source, ports}: QueryOptions): Promise<unknown> =>
  source === undefined ? readSql(text, path) : evaluate(text, source, path, ports)

async function evaluate(expression: string, source: string, path: string, ports: Ports): Promise<unknown> {
  const {Application, checkExpression, Failure, Lines, renderDiagnostics, toJson} = await import('../lang/index.js')
  const {program, target, diagnostics} = checkExpression(source, expression)
  const errors = diagnostics.filter(({severity}) => severity === 'error')
  const [fault] = errors
  if (fault !== undefined) {
    process.stderr.write(`${renderDiagnostics(errors, '<expression>', expression)}\n`)
    const {line, col} = new Lines(expression).at(fault.start)
    throw new SvcError('expression_invalid', {place: `${line}:${col}`, reason: fault.message, code: fault.code})
  }
  if (program === undefined || program.hasErrors || target === undefined)
    throw new SvcError('program_invalid', {path: 'The program with the expression', errors: 1})
  const application = await Application.open(program, {path, ports})
  try {
    const {value} = await application.call(target, [])
    return toJson(value)
  } catch (error) {
    if (error instanceof Failure)
      throw new SvcError('expression_failed', {reason: error.reason, detail: error.message}, {cause: error})
    throw error
  } finally {
    application.close()
  }
}

async function readSql(sql: string, path: string): Promise<unknown> {
  const {openDatabase} = await import('../store/index.js')
  const database = await openDatabase(path, {readonly: true})
  try {
    const statement = database.prepare(sql)
    if (!statement.reader || !statement.readonly)
      throw new SvcError('sql_invalid', {reason: 'it is not a read-only query'})
    return statement.all().map(asJson)
  } catch (error) {
    if (error instanceof SvcError) throw error
    const reason = (error as Error).message
    throw new SvcError('sql_invalid', {reason, ...(await placeInSql(reason, sql, database))}, {cause: error})
  } finally {
    database.close()
  }
}

/** The place of the word that SQLite names in its message, if it occurs once, and the nearest table for an unknown one. */
async function placeInSql(
  reason: string,
  sql: string,
  database: Database,
): Promise<{place?: string | undefined; suggestion?: string | undefined}> {
  const [, near, kind, name] = /(?:near |token: )"(.+)"|^no such (\w+): (?:main\.)?(.+)$/s.exec(reason) ?? []
  const word = near ?? name
  if (word === undefined) return {}
  const at = sql.indexOf(word)
  const {Lines} = await import('../lang/index.js')
  const {line, col} = new Lines(sql).at(at)
  const isOnly = at !== -1 && sql.indexOf(word, at + 1) === -1
  const tables = () => database.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").pluck().all()
  return {
    place: isOnly ? `${line}:${col}` : undefined,
    suggestion: kind === 'table' ? nearest(word, tables() as string[]) : undefined,
  }
}

const asJson = (row: unknown) =>
  Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64') : value,
    ]),
  )
