import {SvcError} from '../errors/index.js'
import type {Ports} from '../lang/index.js'

export interface QueryOptions {
  path: string
  /** Source of the program; undefined: the text is SQL. */
  source: string | undefined
  ports: Ports
}

/** Evaluates an expression or one read-only SQL statement to JSON. @throws sql_invalid, program_invalid, endpoint_failed */
export const runQuery = (text: string, {path, source, ports}: QueryOptions): Promise<unknown> =>
  source === undefined ? readSql(text, path) : evaluate(text, source, path, ports)

async function evaluate(expression: string, source: string, path: string, ports: Ports): Promise<unknown> {
  const {Application, checkExpression, Failure, renderDiagnostics, toJson} = await import('../lang/index.js')
  const {program, target, diagnostics} = checkExpression(source, expression)
  const errors = diagnostics.filter(({severity}) => severity === 'error')
  if (errors.length > 0 || program.hasErrors || target === undefined) {
    process.stderr.write(`${renderDiagnostics(errors, '<expression>', expression)}\n`)
    throw new SvcError('program_invalid', {path: 'The expression', errors: Math.max(1, errors.length)})
  }
  const application = await Application.open(program, {path, ports})
  try {
    const {value} = await application.call(target, [])
    return toJson(value)
  } catch (error) {
    if (error instanceof Failure)
      throw new SvcError(
        'endpoint_failed',
        {name: 'The expression', reason: error.reason, detail: error.message},
        {cause: error},
      )
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
    throw new SvcError('sql_invalid', {reason: (error as Error).message}, {cause: error})
  } finally {
    database.close()
  }
}

const asJson = (row: unknown) =>
  Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64') : value,
    ]),
  )
