import type {Database} from 'better-sqlite3'
import {isInternal} from '../check/index.js'
import {quoted} from '../plan/index.js'

export interface LiveColumn {
  name: string
  type: string
  required: boolean
  /** SQL text of the default, which a migration may have left. */
  fallback: string | null
}

export interface LiveIndex {
  name: string
  table: string
  unique: boolean
  columns: string[]
  /** The statement that made it. */
  sql: string
  isVirtual: boolean
}

export interface LiveTable {
  name: string
  columns: LiveColumn[]
  hasRows: boolean
}

/** What a database holds that belongs to a program: tables and indexes of the store itself are left out. */
export interface LiveSchema {
  tables: Map<string, LiveTable>
  indexes: Map<string, LiveIndex>
}

interface TableRow {
  name: string
  type: 'table' | 'view' | 'shadow' | 'virtual'
}

export function readLiveSchema(database: Database): LiveSchema {
  const all = database.prepare<[], TableRow>("SELECT name, type FROM pragma_table_list WHERE schema = 'main'").all()
  const virtual = all.filter(({type}) => type === 'virtual').map(({name}) => name)
  // Not every virtual table tells SQLite which tables it keeps its data in.
  const isShadow = (name: string) => virtual.some((owner) => name.startsWith(`${owner}_`))
  const own = all.filter(({name, type}) => type === 'table' && !isInternal(name) && !isShadow(name))
  const tables = new Map(own.map(({name}) => [name, readTable(database, name)]))
  const indexes = new Map<string, LiveIndex>()
  for (const {name: table} of own) for (const index of readIndexes(database, table)) indexes.set(index.name, index)
  for (const name of virtual) {
    const table = [...tables.keys()].find((each) => name.startsWith(`${each}_`) && /_(fts|vec)$/.test(name))
    const sql = statementOf(database, name)
    if (table !== undefined) indexes.set(name, {name, table, unique: false, columns: [], sql, isVirtual: true})
  }
  return {tables, indexes}
}

function readTable(database: Database, name: string): LiveTable {
  const columns = database
    .prepare<[string], {name: string; type: string; notnull: number; dflt_value: string | null}>(
      'SELECT name, type, "notnull", dflt_value FROM pragma_table_info(?)',
    )
    .all(name)
    .filter((column) => column.name !== '_id')
    .map((column) => ({
      name: column.name,
      type: column.type.toUpperCase(),
      required: column.notnull === 1,
      fallback: column.dflt_value,
    }))
  const hasRows = database.prepare(`SELECT 1 FROM ${quotedAny(name)} LIMIT 1`).get() !== undefined
  return {name, columns, hasRows}
}

function readIndexes(database: Database, table: string): LiveIndex[] {
  return database
    .prepare<[string], {name: string; unique: number}>(
      `SELECT name, "unique" FROM pragma_index_list(?) WHERE origin = 'c'`,
    )
    .all(table)
    .filter(({name}) => name.startsWith(`idx_${table}_`))
    .map(({name, unique}) => ({
      name,
      table,
      unique: unique === 1,
      columns: database
        .prepare<[string], {name: string}>('SELECT name FROM pragma_index_info(?)')
        .all(name)
        .map((row) => row.name),
      sql: statementOf(database, name),
      isVirtual: false,
    }))
}

const statementOf = (database: Database, name: string): string =>
  database.prepare<[string], {sql: string}>('SELECT sql FROM sqlite_schema WHERE name = ?').get(name)?.sql ?? ''

/** Tables of a database may have any name. */
export const quotedAny = (name: string): string => quoted(name.replaceAll('"', '""'))
