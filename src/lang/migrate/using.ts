import {SvcError} from '../../errors/index.js'
import {
  type Column,
  checkExpressionIn,
  type FunctionType,
  type Program,
  type Table,
  type Type,
  usesDatabase,
  waits,
} from '../check/index.js'
import {sqlType} from '../emit/index.js'
import {storedEncoding} from '../plan/index.js'
import {type Bound, binder, Failure, pureFunction, rowDecoder} from '../run/index.js'
import {storedAs} from './convert.js'
import {declaredType, writeType} from './declared.js'
import type {LiveColumn, LiveTable} from './live-schema.js'

const [functionName, rowName, valueName] = ['svc_using', 'SvcOldRow', 'SvcNewValue']

/** A checked expression that computes a column from the old row. */
export interface Using {
  target: FunctionType
  column: Column
  /** The columns of the old row that the expression can use. */
  old: {live: LiveColumn; column: Column}[]
}

/**
 * Checks an expression of `--using`: `old` is the row as it was, with its old types.
 * @throws migration_choice if it is not of the column's type, reads the database or waits for a transcription
 */
export function checkUsing(program: Program, table: Table, column: Column, live: LiveTable, expression: string): Using {
  const refuse = (fault: string): never => {
    const value = `${table.name}.${column.name}=${expression}`
    throw new SvcError('migration_choice', {flag: '--using', value, fault})
  }
  const old = live.columns
    .filter(({name}) => /^[A-Za-z]\w*$/.test(name))
    .map((each) => ({live: each, column: asColumn(each, table)}))
  const declarations: string[] = []
  const fields = old.map(({column: each}, i) => {
    // The program may now use these names for other types.
    const written = writeType(each.type, (name) => `SvcOld${i}${name}`)
    declarations.push(...written.declarations)
    return `${each.name}: ${written.type}`
  })
  const head = `${program.source}
${declarations.join('\n')}
type ${rowName} { _id: int, ${fields.join(', ')} }
type ${valueName} { value: ${writeType(column.type).type} }
fn ${functionName}(old: ${rowName}) to ${valueName} { return { value: `
  const checked = checkExpressionIn(head, expression, ' } }\n')
  const error = checked.diagnostics.find(({severity}) => severity === 'error')
  const target = checked.program?.functions.find(({name}) => name === functionName)
  if (error !== undefined || target === undefined)
    return refuse(error?.message.replace(/\.$/, '') ?? 'it is not an expression')
  if (usesDatabase(target) || waits(target))
    return refuse('it may use only the old row, not the database, Speech.transcribe or passwords')
  return {target, column, old}
}

/** An old column as a column of the language. */
function asColumn(found: LiveColumn, table: Table): Column {
  const now = table.columns.find(({name}) => name === found.name)
  const base = declaredType(found) ?? typeOfSql(found, now)
  const {required} = found
  const type: Type = required ? base : {kind: 'option', of: base}
  return {name: found.name, type, base, nullable: !required, storage: storedAs(base, found), span: {start: 0, end: 0}}
}

/** The type of a column with only an SQLite type, by affinity. Source: SQLite documentation, "Datatypes". */
function typeOfSql({type}: LiveColumn, now: Column | undefined): Type {
  if (now?.storage === 'json' && type === sqlType(now)) return {kind: 'json'}
  if (/INT/.test(type)) return {kind: 'int'}
  if (/CHAR|CLOB|TEXT/.test(type)) return {kind: 'str'}
  if (/BLOB/.test(type)) return {kind: 'bytes'}
  return {kind: 'float'}
}

/** Returns a function of a row's `_id` and `old` columns that computes the new value. @throws Failure */
export function usingFunction({target, column, old}: Using): (...row: unknown[]) => Bound {
  const evaluate = pureFunction(target)
  const decode = rowDecoder(old.map((each) => each.column))
  const bind = binder(storedEncoding(column))
  return (id, ...values) => {
    try {
      const row = decode(Object.fromEntries(old.map(({column: {name}}, i) => [name, values[i]])))
      return bind((evaluate({_id: id, ...row}) as {value: unknown}).value)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw new Failure(error.reason, `${column.name} of row ${id}: ${error.message}`, {cause: error})
    }
  }
}
