import type {Database} from 'better-sqlite3'
import {SvcError} from '../errors/index.js'

/**
 * A part of the schema that moves on its own: migration n brings it from version n to n + 1. Migrations are appended,
 * never changed.
 */
export interface Fragment {
  readonly name: string
  readonly migrations: readonly string[]
}

export const fragment = (name: string, ...migrations: string[]): Fragment => ({name, migrations})

/**
 * Brings every fragment to its latest version, all in one transaction: after a failure or a kill nothing has changed.
 * A file that is up to date is only read, so it can be opened while another process writes.
 * @throws store_newer when a newer program has written the file
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
    // Looked at again under the write lock: another process may have been first.
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
    // Only SQL that is wrong is the migration's fault; a lock or a damaged file is told as what it is.
    const {code, message} = error as NodeJS.ErrnoException
    if (code === 'SQLITE_ERROR' || code?.startsWith('SQLITE_CONSTRAINT'))
      throw new SvcError('store_migration_failed', {...step, reason: message}, {cause: error})
    throw error
  }
}

/** The fragments that are behind, with the version each is at. */
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
