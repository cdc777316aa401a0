import type {Span} from '../diagnostics/index.js'
import type {Entry, Expr} from '../syntax/index.js'
import type {ChainContext} from './chain-context.js'
import type {Checker} from './checker.js'
import {columnOf} from './column.js'
import type {Chain, ColumnChange, Ir} from './ir.js'
import {repeatedNames} from './names.js'
import {fieldsOf, objectOf} from './records.js'
import {type Column, fits, isUnknown, show, type Type} from './types.js'
import {keyOf} from './unknown-name.js'

/** Checks the argument of `insert`. */
export function insertedRecord(context: ChainContext, expr: Expr): Chain['record'] {
  const {c, table} = context
  const object = objectOf(c, expr)
  if (object !== undefined && object.base === undefined) {
    const {entries, start, end} = object
    const values = literalValues(context, entries)
    const missing = table.columns.filter(
      (column) => isRequired(column) && !entries.some(({key}) => key.text === column.name),
    )
    reportMissing(context, {start, end: Math.min(start + 1, end)}, missing)
    return values
  }
  const ir = c.value(expr)
  const fields = storedFields(ir.type)
  if (fields !== undefined) {
    checkFields(context, expr, fields)
    // A row of a table has all columns; the store sets its own again.
    const stamped =
      ir.type.kind === 'row' ? undefined : table.columns.find(({name, stamp}) => stamp && fields.has(name))
    if (stamped !== undefined) reportStamp(c, expr, stamped, 'inserted')
  } else if (!isUnknown(ir.type))
    c.report('typecheck.arg_mismatch', expr, `insert() needs a record of '${table.name}', found ${show(ir.type)}.`, {
      hints: ir.type.kind === 'list' ? [`Write for row in rows { db.${table.name}.insert(row) }.`] : [],
    })
  return ir
}

const isRequired = ({nullable, hasDefault = false}: Column) => !nullable && !hasDefault

/** The fields of a value without `_id`, which is assigned by the store. */
function storedFields(type: Type): ReadonlyMap<string, Type> | undefined {
  const fields = fieldsOf(type)
  return fields && new Map([...fields].filter(([name]) => name !== '_id'))
}

function checkFields(context: ChainContext, expr: Expr, fields: ReadonlyMap<string, Type>): void {
  const {c, table} = context
  for (const column of table.columns) {
    const type = fields.get(column.name)
    if (type === undefined || fits(type, column.type, 'slot')) continue
    const [expectedType, foundType] = [show(column.type), show(type)]
    const message = `Column '${column.name}' of '${table.name}' is ${expectedType}, found ${foundType}.`
    c.report('typecheck.arg_mismatch', expr, message, {expectedType, foundType})
  }
  const unknown = [...fields.keys()].find((name) => !table.columns.some((column) => column.name === name))
  if (unknown !== undefined)
    c.report('typecheck.unknown_column', expr, `Table '${table.name}' has no column '${unknown}'.`)
  const missing = table.columns.filter((column) => isRequired(column) && !fields.has(column.name))
  reportMissing(context, expr, missing)
}

/** Reports a value for a column that the store sets. */
const reportStamp = (c: Checker, span: Span, {name, stamp}: Column, done: 'inserted' | 'changed') =>
  c.report('typecheck.stamp', span, `'${name}' is set by the store (@${stamp}) and cannot be ${done}.`)

function reportMissing({c, table}: ChainContext, span: Span, columns: readonly Column[]): void {
  if (columns.length === 0) return
  const missing = columns.map(({name}) => name)
  c.report('typecheck.missing_column', span, `Insert into '${table.name}' needs ${missing.join(', ')}.`, {missing})
}

/** Checks the columns that `update` and `upsert` change: `{ done: true, count: { increment: 1 } }`. */
export function readChanges(context: ChainContext, expr: Expr): ColumnChange[] {
  const {c} = context
  const object = objectOf(c, expr)
  if (object === undefined) {
    c.report('typecheck.arg_mismatch', expr, 'update() needs an object of columns, such as { done: true }.')
    c.value(expr)
    return []
  }
  if (object.base !== undefined)
    c.report(
      'typecheck.arg_mismatch',
      object.base,
      "update() takes only the columns that change; '...' is not allowed.",
    )
  if (object.entries.length === 0)
    c.report('typecheck.arg_mismatch', object, 'update() needs at least one column to set.')
  return knownColumns(context, object.entries, 'changed').map(([column, value]) => {
    const added = hasSum(column) ? incrementOf(value) : undefined
    if (added === undefined) return {column, value: c.check(value, column.type, 'slot'), increments: false}
    return {column, value: c.check(added, column.base), increments: true}
  })
}

const hasSum = ({base, nullable}: Column) => !nullable && ['int', 'float', 'dec', 'duration'].includes(base.kind)

/** The value of `{ increment: value }`. */
function incrementOf(expr: Expr): Expr | undefined {
  if (expr.kind !== 'object' || expr.type !== undefined || expr.entries.length !== 1) return undefined
  const [only] = expr.entries
  return only?.key.text === 'increment' ? only.value : undefined
}

const literalValues = (context: ChainContext, entries: readonly Entry[]): (readonly [Column, Ir])[] =>
  knownColumns(context, entries, 'inserted').map(([column, value]) => [
    column,
    context.c.check(value, column.type, 'slot'),
  ])

/** The columns that an object sets, with their values; reports unknown and repeated ones. */
function knownColumns(
  {c, table}: ChainContext,
  entries: readonly Entry[],
  done: 'inserted' | 'changed',
): (readonly [Column, Expr])[] {
  const repeated = repeatedNames(entries, keyOf)
  const columns: (readonly [Column, Expr])[] = []
  for (const entry of entries) {
    const {key, value} = entry
    if (key.text === '_id') {
      c.report('typecheck.insert_id', key, `'_id' is assigned by the store and cannot be ${done}.`)
      c.value(value)
      continue
    }
    const column = columnOf(c, table, key, key.text)
    if (column?.stamp !== undefined) reportStamp(c, key, column, done)
    if (repeated.has(entry)) c.report('typecheck.duplicate_field', key, `Duplicate column '${key.text}'.`)
    if (column === undefined) c.value(value)
    else columns.push([column, value])
  }
  return columns
}
