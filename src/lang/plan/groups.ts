import type {Aggregate, Chain, Column, Grouping} from '../check/index.js'
import {isTrivial, simplify, writePredicate} from './predicate.js'
import {keyOf, orderOf, quoted, type SqlWriter} from './sql.js'

/** Writes a query of totals. `where` writes the condition on the rows, `limit` what follows the order. */
export function writeGroups(
  sql: SqlWriter,
  chain: Chain,
  grouping: Grouping,
  {where, limit}: Record<'where' | 'limit', () => void>,
): void {
  const {output, having} = grouping
  const condition = having === undefined ? undefined : simplify(having)
  const hasCondition = condition !== undefined && !isTrivial(condition)
  // In a statement of its own, a name can only be that of a total, and not that of a column of the table.
  const isNested = hasCondition || chain.orderBy.length > 0
  if (isNested) sql.add(`SELECT ${output.columns.map(({name}) => quoted(name)).join(', ')} FROM (`)
  writeTotals(sql, chain, grouping, where)
  if (isNested) sql.add(`) AS ${quoted(output.sqlName)}`)
  if (hasCondition) {
    sql.add(' WHERE ')
    writePredicate(sql, output, condition)
  }
  writeGroupOrder(sql, chain, grouping)
  limit()
}

function writeTotals(sql: SqlWriter, {table}: Chain, {by, aggregates}: Grouping, where: () => void): void {
  const columns = [...by.map(groupValue), ...aggregates.map((each) => `${total(each)} AS ${quoted(each.output.name)}`)]
  sql.add(`SELECT ${columns.join(', ')} FROM ${quoted(table.sqlName)}`)
  where()
  if (by.length > 0) sql.add(` GROUP BY ${by.map(keyOf).join(', ')}`)
}

/** The value of a column that a group shows; of values that are equal but written differently, the first. */
function groupValue(column: Column): string {
  const name = quoted(column.name)
  return keyOf(column) === name ? name : `MIN(${name}) AS ${name}`
}

/** Decimals are stored as text, which SQLite itself cannot add. */
function total({fn, column}: Aggregate): string {
  if (column === undefined) return 'COUNT(*)'
  const name = quoted(column.name)
  if (fn === 'count') return `COUNT(${name})`
  if (column.base.kind === 'dec') return `svc_dec_${fn}(${name})`
  if (fn === 'avg' && column.storage === 'millis') return `CAST(ROUND(AVG(${name})) AS INTEGER)`
  if (fn !== 'sum') return `${fn.toUpperCase()}(${name})`
  return `coalesce(SUM(${name}), ${column.base.kind === 'float' ? '0.0' : '0'})`
}

/** Ties are sorted by the columns of the group, so that every order is total. */
function writeGroupOrder(sql: SqlWriter, {orderBy}: Chain, {by}: Grouping): void {
  const ties = by.filter(({name}) => !orderBy.some(([column]) => column.name === name))
  const keys = [
    ...orderBy.map(([column, direction]) => `${orderOf(column)} ${direction.toUpperCase()}`),
    ...ties.map((column) => `${orderOf(column)} ASC`),
  ]
  if (keys.length > 0) sql.add(` ORDER BY ${keys.join(', ')}`)
}
