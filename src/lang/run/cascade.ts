import type {Table} from '../check/index.js'
import {quoted} from '../plan/index.js'
import type {Bound} from './bind.js'
import {type Change, insertChange} from './change-log.js'
import type {Connection} from './connection.js'
import type {Run} from './context.js'

type Topics = ReadonlyMap<string, readonly string[]>

interface Dependent {
  table: Table
  id: number
  kind: Change['change_kind']
}

/** Whether the database deletes or changes rows of a watched table when it deletes rows of this one. */
function hasWatchedDependents({referrers = []}: Table, topics: Topics, seen = new Set<Table>()): boolean {
  return referrers.some(({table, column}) => {
    if (column.onDelete === 'restrict' || seen.has(table)) return false
    if (topics.has(table.name)) return true
    return column.onDelete === 'cascade' && hasWatchedDependents(table, topics, seen.add(table))
  })
}

/** The rows that the database deletes or changes with some rows. */
function dependentsOf(connection: Connection, table: Table, ids: readonly number[], seen: Set<string>): Dependent[] {
  if (ids.length === 0) return []
  return (table.referrers ?? []).flatMap(({table: other, column}) => {
    if (column.onDelete === 'restrict') return []
    const kind = column.onDelete === 'cascade' ? 'delete' : 'update'
    const found = connection
      .statement(
        `SELECT "_id" FROM ${quoted(other.sqlName)} WHERE ${quoted(column.name)} IN (SELECT "value" FROM json_each(?))`,
      )
      .all(JSON.stringify(ids))
      .map(({_id: id}) => id as number)
      .filter((id) => !seen.has(`${other.sqlName} ${id}`))
    for (const id of found) seen.add(`${other.sqlName} ${id}`)
    const changes = found.map((id): Dependent => ({table: other, id, kind}))
    return kind === 'delete' ? [...changes, ...dependentsOf(connection, other, found, seen)] : changes
  })
}

/**
 * Adds the rows that the database deletes or changes with others to the change log.
 * @param idsOf the rows that will be deleted
 */
export function loggedCascade(
  table: Table,
  topics: Topics,
  idsOf: (values: readonly Bound[], connection: Connection) => readonly number[],
  run: Run,
): Run {
  if (!hasWatchedDependents(table, topics)) return run
  return (values, context) =>
    context.connection.together(() => {
      const {connection} = context
      const ids = idsOf(values, connection)
      const seen = new Set(ids.map((id) => `${table.sqlName} ${id}`))
      const dependents = dependentsOf(connection, table, ids, seen)
      const result = run(values, context)
      for (const {table: changed, id, kind} of dependents)
        for (const topic of topics.get(changed.name) ?? [])
          insertChange(connection, {topic, table: changed.name, id, kind})
      return result
    })
}
