import type {Chain, Column, Included} from '../check/index.js'
import {quoted} from './sql.js'

/** The name of an included table in its subquery, which can be the table of the outer query. */
const alias = '"_r"'

/** The columns of the result that contain included rows, as JSON arrays of column values. */
export const includedColumns = ({table, included}: Chain): string[] =>
  included.map((each) => `(${subquery(table.sqlName, each)}) AS ${quoted(each.name)}`)

function subquery(outer: string, {table, column, how}: Included): string {
  const row = `json_array(${[table.id, ...table.columns].map(jsonValue).join(', ')})`
  const from = `FROM ${quoted(table.sqlName)} AS ${alias} WHERE`
  if (how === 'one') return `SELECT ${row} ${from} ${alias}."_id" = ${quoted(outer)}.${quoted(column.name)}`
  const rows = `json_group_array(${row} ORDER BY ${alias}."_id")`
  return `SELECT ${rows} ${from} ${alias}.${quoted(column.name)} = ${quoted(outer)}."_id"`
}

/** JSON has no bytes. */
function jsonValue({name, storage}: Column): string {
  const value = `${alias}.${quoted(name)}`
  return storage === 'blob' ? `CASE WHEN ${value} IS NOT NULL THEN hex(${value}) END` : value
}
