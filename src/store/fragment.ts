import type {Database} from 'better-sqlite3'
import {SvcError} from '../errors/index.js'

/**
 * Independently versioned part of a schema. Migration n upgrades it from version n to n + 1. Migrations are appended
 * and never changed.
 */
export interface Fragment {
  readonly name: string
  readonly migrations: readonly string[]
}

export const fragment = (name: string, ...migrations: string[]): Fragment => ({name, migrations})

/**
 * Upgrades all fragments to their latest versions in one transaction. An up-to-date file is only read, so that it can
 * be opened while another process writes.
 * @throws store_newer if a newer program has upgraded the file
 */
export function applyFragments(database: Database, path: string, fragments: readonly Fragment[]): void {
  if (outdated(database, path, fragments).length === 0) return
  const apply = database.transaction(() => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS schema_fragments (name TEXT PRIMARY KEY, version INTEGER NOT NULL, applied_at TEXT NOT NULL) STRICT',
    )
    const record = database.prepare(
      `INSERT INTO schema_fragments (name, version, applied_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, applied_at = excluded.applied_at`,
    )
    // Check again under the write lock: another process may have upgraded the file.
    for (const {name, found, migrations} of outdated(database, path, fragments)) {
      for (const [i, migration] of migrations.slice(found).entries())
        migrate(database, migration, {path, fragment: name, version: found + i + 1})
      record.run(name, migrations.length)
    }
  })
  apply.immediate()
}

function migrate(database: Database, sql: string, step: {path: string; fragment: string; version: number}): void {
  try {
    database.exec(sql)
  } catch (error) {
    // Only invalid SQL is an error of the migration; locks and corrupt files have errors of their own.
    const {code, message} = error as NodeJS.ErrnoException
    if (code === 'SQLITE_ERROR' || code?.startsWith('SQLITE_CONSTRAINT'))
      throw new SvcError('store_migration_failed', {...step, reason: message}, {cause: error})
    throw error
  }
}

/** @throws store_newer if a newer program has upgraded the file */
export function requireKnown(database: Database, path: string, fragments: readonly Fragment[]): void {
  outdated(database, path, fragments)
}

/** Finds outdated fragments and their current versions. */
function outdated(database: Database, path: string, fragments: readonly Fragment[]) {
  const versions = readVersions(database)
  const states = fragments.map((fragment) => ({...fragment, found: versions.get(fragment.name) ?? 0}))
  const newer = states.find(({found, migrations}) => found > migrations.length)
  if (newer !== undefined) {
    const {name, found, migrations} = newer
    throw new SvcError('store_newer', {path, fragment: name, found, known: migrations.length})
  }
  return states.filter(({found, migrations}) => found < migrations.length)
}

function readVersions(database: Database): ReadonlyMap<string, number> {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_fragments'").get()
  if (table === undefined) return new Map()
  const rows = database.prepare<[], {name: string; version: number}>('SELECT name, version FROM schema_fragments').all()
  return new Map(rows.map(({name, version}) => [name, version]))
}
