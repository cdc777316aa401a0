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
 * @throws store_newer when a newer program has written the file
 */
export function applyFragments(database: Database, path: string, fragments: readonly Fragment[]): void {
  const apply = database.transaction(() => {
    database.exec(
      'CREATE TABLE IF NOT EXISTS schema_fragments (name TEXT PRIMARY KEY, version INTEGER NOT NULL, applied_at TEXT NOT NULL) STRICT',
    )
    const versionOf = database.prepare<[string], {version: number}>(
      'SELECT version FROM schema_fragments WHERE name = ?',
    )
    const record = database.prepare(
      `INSERT INTO schema_fragments (name, version, applied_at) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, applied_at = excluded.applied_at`,
    )
    for (const {name, migrations} of fragments) {
      const found = versionOf.get(name)?.version ?? 0
      const known = migrations.length
      if (found > known) throw new SvcError('store_newer', {path, fragment: name, found, known})
      if (found === known) continue
      for (const migration of migrations.slice(found)) database.exec(migration)
      record.run(name, known)
    }
  })
  apply.immediate()
}
