import type {Arg, Entry, Expr, Name} from '../syntax/index.js'
import {type ChainContext, hasChainArgs} from './chain-context.js'
import {columnOf} from './column.js'
import {columnNamed} from './grouping.js'
import type {Included} from './ir.js'
import {objectOf} from './records.js'
import {type Column, show, type Table} from './types.js'
import {reportRepeatedKeys, reportUnknownName} from './unknown-name.js'

/**
 * `include({ lines: Line.order, customer: buyer })`: the rows whose column refers to this row, or the row that a column
 * refers to.
 */
export function checkInclude(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain} = context
  if (!hasChainArgs(context, name, args, 1)) return
  const {value} = args[0] as Arg
  const object = objectOf(c, value)
  if (object === undefined || object.base !== undefined || object.entries.length === 0) {
    c.report('typecheck.include_shape', value, 'include() needs an object, such as { lines: Line.order }.')
    return
  }
  reportRepeatedKeys(c, object)
  chain.included = object.entries.flatMap((entry) => readIncluded(context, entry) ?? [])
}

function readIncluded(context: ChainContext, {key, value}: Entry): Included | undefined {
  const {c, table} = context
  if (key.text === '_id' || table.columns.some(({name}) => name === key.text))
    c.report(
      'typecheck.duplicate_field',
      key,
      `'${key.text}' is already a column of '${table.name}'; choose another name.`,
    )
  const other = referringTable(context, value)
  if (other === undefined) {
    const column = columnNamed(c, table, value)
    if (column === undefined) return undefined
    if (column.base.kind === 'id') return {name: key.text, table: column.base.table, how: 'one', column}
    notReference(context, value, column)
    return undefined
  }
  const column = columnOf(c, other.table, other.member, other.member.text)
  if (column === undefined) return undefined
  if (column.base.kind !== 'id' || column.base.table !== table) {
    notReference(context, value, column, table)
    return undefined
  }
  if (!isIndexed(other.table, column))
    c.report(
      'lint.include_index',
      value,
      `No index begins with column '${column.name}' of '${other.table.name}', so every row reads the whole table.`,
      {hints: [`Declare @index ${other.table.name}.by_${column.name} on (${column.name})`]},
    )
  return {name: key.text, table: other.table, how: 'many', column}
}

/** The parts of `Line.order`. */
function referringTable({c}: ChainContext, expr: Expr): {table: Table; member: Name} | undefined {
  if (expr.kind !== 'member' || expr.object.kind !== 'name') return undefined
  const {name} = expr.object
  const {tables} = c.declarations
  const table = tables.get(name.text)
  if (table === undefined) {
    reportUnknownName(c, 'typecheck.unknown_table', name, `Unknown table '${name.text}'.`, tables.keys())
    return undefined
  }
  c.symbols?.use(name, table.span, () => `@table type ${table.name}`, table.doc)
  return {table, member: expr.member}
}

const notReference = ({c}: ChainContext, expr: Expr, {name, type}: Column, to?: Table) =>
  c.report(
    'typecheck.include_shape',
    expr,
    `Column '${name}' is ${show(type)}, not ${to === undefined ? 'the id of a row' : `Id[${to.name}]`}.`,
  )

const isIndexed = ({indexes}: Table, column: Column) =>
  indexes.some(({style, columns}) => style === 'btree' && columns[0] === column)
