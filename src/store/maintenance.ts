import {statSync} from 'node:fs'
import type {Database} from 'better-sqlite3'
import {SvcError} from '../errors/index.js'
import {hasTable} from './numbering.js'
import {type DatabaseOptions, openAlone, openDatabase, storeError} from './store.js'

/** Closes a database after `use`, and converts its errors to catalogue errors. */
async function using<T>(path: string, database: Database, use: (database: Database) => T | Promise<T>): Promise<T> {
  try {
    return await use(database)
  } catch (error) {
    throw storeError(error, path)
  } finally {
    database.close()
  }
}

/** Opens a database for the duration of `use` and converts its errors to catalogue errors. */
const withDatabase = async <T>(
  path: string,
  options: DatabaseOptions,
  use: (database: Database) => T | Promise<T>,
): Promise<T> => using(path, await openDatabase(path, options), use)

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Names of ordinary tables, without internal tables of SQLite and of search indexes. */
function tableNames(database: Database): string[] {
  const all = database
    .prepare<[], {name: string; type: string}>(
      "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name",
    )
    .all()
  // Not all virtual tables declare their shadow tables to SQLite, but these have its name as a prefix.
  const virtual = all.filter(({type}) => type === 'virtual').map(({name}) => `${name}_`)
  const isOwn = (name: string) => !name.startsWith('sqlite_') && !virtual.some((prefix) => name.startsWith(prefix))
  return all.filter(({name, type}) => type === 'table' && isOwn(name)).map(({name}) => name)
}

export interface DatabaseFacts {
  file: string
  size_bytes: number
  journal_mode: string
  tables: {name: string; rows: number}[]
  last_migration: {applied_at: string; source_digest: string} | null
}

/** Describes the contents of a database file. */
export const describeDatabase = (path: string): Promise<DatabaseFacts> =>
  withDatabase(path, {readonly: true}, (database) => ({
    file: path,
    size_bytes: statSync(path).size,
    journal_mode: database.pragma('journal_mode', {simple: true}) as string,
    tables: tableNames(database).map((name) => ({
      name,
      rows: (database.prepare(`SELECT count(*) AS rows FROM ${quoted(name)}`).get() as {rows: number}).rows,
    })),
    last_migration: lastMigration(database),
  }))

function lastMigration(database: Database): DatabaseFacts['last_migration'] {
  if (!hasTable(database, 'svc_data_migrations')) return null
  const row = database
    .prepare('SELECT applied_at, source_digest FROM svc_data_migrations ORDER BY id DESC LIMIT 1')
    .get()
  return (row as DatabaseFacts['last_migration'] | undefined) ?? null
}

export interface RecordCount {
  group: string
  kind: string
  count: number
  first_at: string
  last_at: string
}

/** Counts the rows of a log table by two columns; empty if the table does not exist. */
export const countRecords = (
  path: string,
  {table, group, kind}: {table: string; group: string; kind: string},
  only: {group: string | undefined; kind: string | undefined},
): Promise<RecordCount[]> =>
  withDatabase(path, {readonly: true}, (database) => {
    if (!hasTable(database, table)) return []
    const [by, of] = [quoted(group), quoted(kind)]
    const sql = `SELECT ${by} AS "group", ${of} AS kind, count(*) AS count, min(created_at) AS first_at, max(created_at) AS last_at
FROM ${quoted(table)} WHERE (@group IS NULL OR ${by} = @group) AND (@kind IS NULL OR ${of} = @kind) GROUP BY 1, 2 ORDER BY 1, 2`
    return database.prepare<unknown[], RecordCount>(sql).all({group: only.group ?? null, kind: only.kind ?? null})
  })

/** Retention of a table. `days` compares UTC text, the other kinds with a column compare Unix milliseconds. */
export interface RetentionRule {
  readonly kind: 'keep_forever' | 'manual' | 'days' | 'ms_days' | 'expires_lt_now'
  /** Age from which `days` and `ms_days` delete a row. */
  readonly days?: number
  /** A row in which it is null is kept. */
  readonly time_column?: string
  /** SQL condition that deleted rows also meet. */
  readonly condition?: string
  /** Tables whose rows are deleted with the rows, and their column that refers to the column of the same name. */
  readonly parts?: Readonly<Record<string, string>>
}

export interface PrunedTable {
  table: string
  kind: RetentionRule['kind']
  days: number | null
  rows: number
}

const dayMs = 86_400_000

/** Counts the old rows of tables, and deletes them in one transaction if `apply` is set. A missing table has none. */
export const pruneTables = (
  path: string,
  rules: Readonly<Record<string, RetentionRule>>,
  {apply, now = Date.now()}: {apply: boolean; now?: number},
): Promise<PrunedTable[]> =>
  withDatabase(path, {readonly: !apply}, (database) => {
    const prune = database.transaction(() =>
      Object.entries(rules).map(([table, rule]) => {
        const rows = hasTable(database, table) ? pruneTable(database, table, rule, {apply, now}) : 0
        return {table, kind: rule.kind, days: rule.days ?? null, rows}
      }),
    )
    return apply ? prune.immediate() : prune()
  })

function pruneTable(
  database: Database,
  table: string,
  {kind, days = 0, time_column: column, condition = 'TRUE', parts = {}}: RetentionRule,
  {apply, now}: {apply: boolean; now: number},
): number {
  if (column === undefined) return 0
  const limit = now - days * dayMs
  const isText = kind === 'days'
  const isOld = isText ? `datetime(${quoted(column)}) < datetime(?)` : `${quoted(column)} < ?`
  const old = `FROM ${quoted(table)} WHERE ${isOld} AND ${condition}`
  const since = isText ? new Date(limit).toISOString() : limit
  if (apply)
    for (const [part, key] of Object.entries(parts))
      database.prepare(`DELETE FROM ${quoted(part)} WHERE ${quoted(key)} IN (SELECT ${quoted(key)} ${old})`).run(since)
  if (apply) return database.prepare(`DELETE ${old}`).run(since).changes
  return (database.prepare(`SELECT count(*) AS rows ${old}`).get(since) as {rows: number}).rows
}

/**
 * How to treat other processes that use a database: `wait` for their end until it aborts, or continue `online`, while
 * they use it.
 */
export interface OthersOptions {
  wait?: AbortSignal | undefined
  online?: boolean | undefined
}

/**
 * Returns unused space to the file system.
 * @throws database_in_use, store_*
 */
export async function vacuum(
  path: string,
  {wait, online = false}: OthersOptions = {},
): Promise<{bytes_before: number; bytes_after: number}> {
  const bytesBefore = statSync(path).size
  await using(path, await (online ? openDatabase(path) : openAlone(path, wait)), (database) => {
    database.exec('VACUUM')
    database.pragma('wal_checkpoint(TRUNCATE)')
  })
  return {bytes_before: bytesBefore, bytes_after: statSync(path).size}
}

/** Row of a table in JSON form. */
export interface ExportedRow {
  table: string
  record: Record<string, unknown>
}

/** Exports all rows of a database or of one table from one snapshot. */
export async function* exportRows(path: string, only?: string): AsyncGenerator<ExportedRow> {
  const database = await openDatabase(path, {readonly: true})
  try {
    database.exec('BEGIN')
    const names = tableNames(database)
    if (only !== undefined && !names.includes(only)) throw new SvcError('table_unknown', {name: only})
    for (const table of only === undefined ? names : [only])
      for (const row of database.prepare(`SELECT * FROM ${quoted(table)}`).iterate())
        yield {
          table,
          record: Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, toJson(value)])),
        }
  } catch (error) {
    throw storeError(error, path)
  } finally {
    database.close()
  }
}

const toJson = (value: unknown) => (Buffer.isBuffer(value) ? {base64: value.toString('base64')} : value)
const fromJson = (value: unknown) =>
  typeof value === 'object' && value !== null && 'base64' in value ? Buffer.from(String(value.base64), 'base64') : value

/** Imports rows of `exportRows` atomically. Rows with an existing key are replaced. */
export const importRows = (path: string, rows: readonly (ExportedRow & {place: string})[]): Promise<number> =>
  withDatabase(path, {}, (database) => {
    const write = database.transaction(() => {
      for (const {table, record, place} of rows) {
        const names = Object.keys(record)
        const sql = `INSERT OR REPLACE INTO ${quoted(table)} (${names.map(quoted).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
        try {
          database.prepare(sql).run(...names.map((name) => fromJson(record[name])))
        } catch (error) {
          throw new SvcError('record_invalid', {path, place, fault: (error as Error).message}, {cause: error})
        }
      }
      return rows.length
    })
    return write.immediate()
  })
