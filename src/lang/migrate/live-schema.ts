import type {Database} from 'better-sqlite3'
import {isInternal} from '../check/index.js'
import {quoted} from '../plan/index.js'
import {ownConstraints, readTable as parseTable} from './create-table.js'
import {declaredKey, readDeclared} from './declared.js'

export interface LiveColumn {
  name: string
  type: string
  required: boolean
  /** SQL text of the default, which an earlier migration may have set. */
  fallback: string | null
  /** Its type in the language, if a migration recorded it. */
  declared: string | undefined
  /** What a program declared that the database checks: `CHECK (...)`, `REFERENCES ...`. */
  constraints: readonly string[]
  /** Where it still is, if a step of the migration renames it or its table. */
  stored?: {table: string; column: string}
}

export interface LiveIndex {
  name: string
  table: string
  unique: boolean
  isPartial: boolean
  columns: string[]
  /** The statement that made it. */
  sql: string
  isVirtual: boolean
  /**
   * True if created for a program. Such an index is dropped when its declaration is removed; a user's index never is.
   */
  isOurs: boolean
}

export interface LiveTable {
  name: string
  columns: LiveColumn[]
  hasRows: boolean
  /** Whether `_id` is its INTEGER PRIMARY KEY. */
  hasId: boolean
  /** The statement that made it. */
  sql: string
}

/** The column with this name, ignoring case like SQLite. */
export const liveColumn = ({columns}: LiveTable, name: string): LiveColumn | undefined =>
  columns.find((each) => each.name.toLowerCase() === name.toLowerCase())

/** The tables and indexes of a database, except those of the store itself. */
export interface LiveSchema {
  tables: Map<string, LiveTable>
  indexes: Map<string, LiveIndex>
  /** Recorded column types by `declaredKey`; may include dropped columns. */
  declared: ReadonlyMap<string, string>
}

export const noSchema: LiveSchema = {tables: new Map(), indexes: new Map(), declared: new Map()}

interface TableRow {
  name: string
  type: 'table' | 'view' | 'shadow' | 'virtual'
  /** 1 for a table WITHOUT ROWID. */
  wr: number
}

export function readLiveSchema(database: Database): LiveSchema {
  const all = database.prepare<[], TableRow>("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'").all()
  const virtual = all.filter(({type}) => type === 'virtual').map(({name}) => name)
  // Not every virtual table reports its shadow tables to SQLite.
  const isShadow = (name: string) => virtual.some((owner) => name.startsWith(`${owner}_`))
  const own = all.filter(({name, type}) => type === 'table' && !isInternal(name) && !isShadow(name))
  const declared = readDeclared(database)
  const tables = new Map(own.map((table) => [table.name, readTable(database, table, declared)]))
  const indexes = new Map<string, LiveIndex>()
  for (const {name: table} of own) for (const index of readIndexes(database, table)) indexes.set(index.name, index)
  for (const name of virtual) {
    const index = virtualIndex(database, name, [...tables.keys()])
    if (index !== undefined) indexes.set(name, index)
  }
  return {tables, indexes, declared}
}

interface ColumnRow {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
}

function readTable(database: Database, {name, wr}: TableRow, declared: ReadonlyMap<string, string>): LiveTable {
  const rows = database
    .prepare<[string], ColumnRow>('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)')
    .all(name)
  const keys = rows.filter(({pk}) => pk > 0)
  const sql = statementOf(database, name)
  const text = parseTable(sql)
  const columns = rows
    .filter((column) => column.name !== '_id')
    .map((column) => ({
      name: column.name,
      type: column.type.toUpperCase(),
      required: column.notnull === 1,
      fallback: column.dflt_value,
      declared: declared.get(declaredKey(name, column.name)),
      constraints: ownConstraints(text, column.name),
    }))
  const hasRows = database.prepare(`SELECT 1 FROM ${quotedAny(name)} LIMIT 1`).get() !== undefined
  const hasId = wr === 0 && keys.length === 1 && keys[0]?.name === '_id' && keys[0].type.toUpperCase() === 'INTEGER'
  return {name, columns, hasRows, hasId, sql}
}

/** The output of `createIndex`, in this or an earlier version, as SQLite stores it. */
const ownColumn = String.raw`(?:"\w+"|CASE WHEN [^;]*? END)`
const ownIndex = new RegExp(
  `^CREATE (?:UNIQUE )?INDEX "\\w+" ON "\\w+" \\(${ownColumn}(?:, ${ownColumn})*\\)(?: WHERE \\(.*\\))?$`,
)
const ownVirtual =
  /^CREATE VIRTUAL TABLE "\w+" USING (?:fts5\((?:"\w+", )+content="\w+", content_rowid="_id"\)|vec0\(\w+ float\[\d+\] distance_metric=cosine\))$/

function readIndexes(database: Database, table: string): LiveIndex[] {
  return database
    .prepare<[string], {name: string; unique: number; partial: number}>(
      `SELECT name, "unique", partial FROM pragma_index_list(?) WHERE origin = 'c'`,
    )
    .all(table)
    .filter(({name}) => name.startsWith(`idx_${table}_`))
    .map(({name, unique, partial}) => {
      const sql = statementOf(database, name)
      return {
        name,
        table,
        unique: unique === 1,
        isPartial: partial === 1,
        columns: database
          .prepare<[string], {name: string | null}>('SELECT name FROM pragma_index_info(?)')
          .all(name)
          // The columns of partial indexes and the expressions do not count as columns.
          .map((row) => (partial === 1 ? '' : (row.name ?? ''))),
        sql,
        isVirtual: false,
        isOurs: ownIndex.test(sql),
      }
    })
}

/** A virtual table that svc created as an index, with its triggers. A user's virtual table may contain other text. */
function virtualIndex(database: Database, name: string, tables: readonly string[]): LiveIndex | undefined {
  const table = tables.find((each) => name.startsWith(`${each}_`) && /_(fts|vec)$/.test(name))
  const sql = statementOf(database, name)
  if (table === undefined || !ownVirtual.test(sql)) return undefined
  if (triggersOf(name).some((trigger) => statementOf(database, trigger) === '')) return undefined
  return {name, table, unique: false, isPartial: false, columns: [], sql, isVirtual: true, isOurs: true}
}

/** The triggers that synchronise a virtual table with its table. */
export const triggersOf = (index: string): string[] => ['ai', 'ad', 'au'].map((suffix) => `${index}_${suffix}`)

const statementOf = (database: Database, name: string): string =>
  database.prepare<[string], {sql: string}>('SELECT sql FROM sqlite_schema WHERE name = ?').get(name)?.sql ?? ''

/** Quotes a name of any characters. */
export const quotedAny = (name: string): string => quoted(name.replaceAll('"', '""'))
