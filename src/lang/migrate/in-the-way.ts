import type {Database} from 'better-sqlite3'
import type {Index} from '../check/index.js'
import {conditionSql, keyOf, quoted} from '../plan/index.js'
import {nameRows} from './convert.js'

/** Maximum number of row groups in a message. */
const maxGroups = 5
const maxRows = 10

/** Why an index cannot be created on the existing rows, with their ids; undefined if it can. */
export function rowsInTheWay(database: Database, index: Index): string | undefined {
  if (index.style === 'vector') return otherLengths(database, index)
  return index.unique ? duplicates(database, index) : undefined
}

function duplicates(database: Database, {table, columns, where}: Index): string | undefined {
  const keys = columns.map(keyOf)
  // A row with NULL in one of the columns is never a duplicate.
  const present = [
    ...columns.map(({name}) => `${quoted(name)} IS NOT NULL`),
    ...(where === undefined ? [] : [`(${conditionSql(where, table)})`]),
  ].join(' AND ')
  const groups = database
    .prepare<[number], {ids: string; count: number}>(
      `SELECT group_concat("_id") AS ids, count(*) AS count FROM (SELECT "_id", ${keys.map((key, i) => `${key} AS k${i}`).join(', ')}
        FROM ${quoted(table.sqlName)} WHERE ${present} ORDER BY "_id") GROUP BY ${keys.map((_, i) => `k${i}`).join(', ')}
        HAVING count(*) > 1 ORDER BY min("_id") LIMIT ?`,
    )
    .all(maxGroups + 1)
  if (groups.length === 0) return undefined
  const named = groups
    .slice(0, maxGroups)
    .map(({ids, count}) => nameRows(ids.split(',', maxRows).map(Number), count))
    .join('; ')
  const what = columns.map(({name}) => name).join(', ')
  return `duplicate values of ${what} in ${named}${groups.length > maxGroups ? '; …' : ''}`
}

function otherLengths(database: Database, {table, columns, dimensions}: Index): string | undefined {
  const column = columns[0]
  if (column === undefined) return undefined
  const value = quoted(column.name)
  const length =
    column.storage === 'blob'
      ? `length(${value}) / 4.0`
      : `CASE WHEN json_valid(${value}) THEN json_array_length(${value}) END`
  const ids = database
    .prepare(
      `SELECT "_id" FROM ${quoted(table.sqlName)} WHERE ${value} IS NOT NULL AND (${length}) IS NOT ${dimensions} LIMIT ${maxRows + 1}`,
    )
    .pluck()
    .all() as number[]
  if (ids.length === 0) return undefined
  return `${column.name} does not have ${dimensions} numbers in ${nameRows(ids.slice(0, maxRows), ids.length)}`
}
