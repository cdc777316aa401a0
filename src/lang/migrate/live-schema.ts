import type {Database} from 'better-sqlite3'
import {isInternal} from '../check/index.js'
import {quoted} from '../plan/index.js'
import {declaredKey, readDeclared} from './declared.js'

export interface LiveColumn {
  name: string
  type: string
  required: boolean
  /** SQL text of the default, which a migration may have left. */
  fallback: string | null
  /** Its type in the language, where a migration kept it. */
  declared: string | undefined
}

export interface LiveIndex {
  name: string
  table: string
  unique: boolean
  columns: string[]
  /** The statement that made it. */
  sql: string
  isVirtual: boolean
  /** Made for a program: such an index goes when the program no longer declares it, one made by hand never does. */
  isOurs: boolean
}

export interface LiveTable {
  name: string
  columns: LiveColumn[]
  hasRows: boolean
  /** Whether `_id` numbers its rows. */
  hasId: boolean
  /** The statement that made it. */
  sql: string
}

/** The column of this name: SQLite ignores the case of names. */
export const liveColumn = ({columns}: LiveTable, name: string): LiveColumn | undefined =>
  columns.find((each) => each.name.toLowerCase() === name.toLowerCase())

/** What a database holds that belongs to a program: tables and indexes of the store itself are left out. */
export interface LiveSchema {
  tables: Map<string, LiveTable>
  indexes: Map<string, LiveIndex>
  /** Types that were kept of columns, by `declaredKey`; also of some that are gone. */
  declared: ReadonlyMap<string, string>
}

export const noSchema: LiveSchema = {tables: new Map(), indexes: new Map(), declared: new Map()}

interface TableRow {
  name: string
  type: 'table' | 'view' | 'shadow' | 'virtual'
  /** Without rowid. */
  wr: number
}

export function readLiveSchema(database: Database): LiveSchema {
  const all = database.prepare<[], TableRow>("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'").all()
  const virtual = all.filter(({type}) => type === 'virtual').map(({name}) => name)
  // Not every virtual table reports to SQLite the tables that hold its data.
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
  const columns = rows
    .filter((column) => column.name !== '_id')
    .map((column) => ({
      name: column.name,
      type: column.type.toUpperCase(),
      required: column.notnull === 1,
      fallback: column.dflt_value,
      declared: declared.get(declaredKey(name, column.name)),
    }))
  const hasRows = database.prepare(`SELECT 1 FROM ${quotedAny(name)} LIMIT 1`).get() !== undefined
  const hasId = wr === 0 && keys.length === 1 && keys[0]?.name === '_id' && keys[0].type.toUpperCase() === 'INTEGER'
  return {name, columns, hasRows, hasId, sql: statementOf(database, name)}
}

/** What `createIndex` writes, now or in earlier versions, as SQLite keeps it. */
const ownColumn = String.raw`(?:"\w+"|CASE WHEN [^;]*? END)`
const ownIndex = new RegExp(`^CREATE (?:UNIQUE )?INDEX "\\w+" ON "\\w+" \\(${ownColumn}(?:, ${ownColumn})*\\)$`)
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
        columns: database
          .prepare<[string], {name: string | null}>('SELECT name FROM pragma_index_info(?)')
          .all(name)
          // A part of the table, or of a column's value, is no column.
          .map((row) => (partial === 1 ? '' : (row.name ?? ''))),
        sql,
        isVirtual: false,
        isOurs: ownIndex.test(sql),
      }
    })
}

/** A virtual table that svc made as an index, with its triggers. One that was made by hand may hold text of its own. */
function virtualIndex(database: Database, name: string, tables: readonly string[]): LiveIndex | undefined {
  const table = tables.find((each) => name.startsWith(`${each}_`) && /_(fts|vec)$/.test(name))
  const sql = statementOf(database, name)
  if (table === undefined || !ownVirtual.test(sql)) return undefined
  if (triggersOf(name).some((trigger) => statementOf(database, trigger) === '')) return undefined
  return {name, table, unique: false, columns: [], sql, isVirtual: true, isOurs: true}
}

/** The triggers that keep a virtual table in step with its table. */
export const triggersOf = (index: string): string[] => ['ai', 'ad', 'au'].map((suffix) => `${index}_${suffix}`)

const statementOf = (database: Database, name: string): string =>
  database.prepare<[string], {sql: string}>('SELECT sql FROM sqlite_schema WHERE name = ?').get(name)?.sql ?? ''

/** Tables of a database may have any name. */
export const quotedAny = (name: string): string => quoted(name.replaceAll('"', '""'))
