import {closeSync, openSync, readSync} from 'node:fs'
import type {Database} from 'better-sqlite3'
import {isErrorOf, SvcError} from '../errors/index.js'
import type {Fragment} from './fragment.js'
import {storeError} from './store.js'

export type DatabaseName = 'app' | 'store' | 'mesh'

/** A kind of database file that svc writes. */
export interface DatabaseKind {
  readonly name: DatabaseName
  /** Its schema; empty if its program defines it. */
  readonly fragments: readonly Fragment[]
  /**
   * Changes the numbers of a database that takes the place of another one, so that it assigns none that others may
   * remember from before. Runs in a transaction.
   * @param replaced undefined if it is missing or damaged
   */
  continueFrom(database: Database, replaced: Database | undefined, now: Date): void
}

/** Tables by which the kinds are recognised; those of svc itself come first and have fragments. */
const marks: readonly {name: DatabaseName; text: string; tables: readonly string[]}[] = [
  {name: 'mesh', text: 'a mesh database', tables: ['schema_fragments', 'mesh_counters']},
  {name: 'store', text: 'a workspace store', tables: ['schema_fragments', 'orch_tasks']},
  {name: 'app', text: 'an application database', tables: ['svc_data_migrations']},
  {name: 'app', text: 'an application database', tables: ['svc_data_columns']},
]

/** @throws database_kind_differs */
export function requireKind(database: Database, path: string, kind: DatabaseKind): void {
  const tables = new Set(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all())
  const found = marks.find((mark) => mark.tables.every((table) => tables.has(table)))
  if (found?.name !== kind.name) throw kindDiffers(path, kind, found?.text)
}

function kindDiffers(path: string, {name}: DatabaseKind, found = 'a file of another program'): SvcError {
  const expected = marks.find((mark) => mark.name === name)?.text ?? name
  return new SvcError('database_kind_differs', {path, found, expected})
}

/** @throws store_damaged */
export function requireIntact(database: Database, path: string): void {
  const reason = database.pragma('integrity_check(1)', {simple: true}) as string
  if (reason !== 'ok') throw new SvcError('store_damaged', {path, reason: reason.replaceAll('\n', ' ')})
}

/** Refuses files that are no earlier state of a database of this kind. @throws database_kind_differs */
export function requireReplaceable(
  old: Database | undefined,
  file: string,
  kind: DatabaseKind,
  isDefaultPath: boolean,
): void {
  if (old === undefined) {
    if (!isDefaultPath && !hasHeader(file)) throw kindDiffers(file, kind, undefined)
    return
  }
  try {
    if (!hasNoTables(old, file)) requireKind(old, file, kind)
  } catch (error) {
    if (!isErrorOf(storeError(error, file), 'store_damaged')) throw error
  }
}

/** Whether a file begins like a SQLite database. To read it releases the locks of SQLite. */
function hasHeader(file: string): boolean {
  const expected = Buffer.from('SQLite format 3\0')
  const found = Buffer.alloc(expected.length)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, found, 0, found.length, 0)
  } finally {
    closeSync(opened)
  }
  return found.equals(expected)
}

/** False if it is damaged. */
export function hasNoTables(database: Database, path: string): boolean {
  try {
    return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  } catch (error) {
    if (!isErrorOf(storeError(error, path), 'store_damaged')) throw error
    return false
  }
}
