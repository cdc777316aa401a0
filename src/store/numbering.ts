import type {Database} from 'better-sqlite3'

/**
 * Lives of a log: each restore starts one. `first_id` is an id that no event has, above all ids of earlier lives;
 * `last_id` is that of the last event that the restored database contained. Events between the two no longer exist.
 */
export const livesTable = `CREATE TABLE IF NOT EXISTS svc_log_lives (
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT`

export const hasTable = (database: Database, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined

/** The last id that an AUTOINCREMENT table has assigned, even if its row was deleted; 0 if there is none. */
export function lastAssigned(database: Database, table: string): number {
  if (!hasTable(database, 'sqlite_sequence')) return 0
  return (
    (database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) as number | undefined) ?? 0
  )
}

/** Makes an AUTOINCREMENT table assign only ids above `last`. */
export function raiseAssigned(database: Database, table: string, last: number): void {
  const {changes} = database.prepare('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run(last, table)
  if (changes === 0) database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, last)
}

/** Makes all AUTOINCREMENT tables of a database continue after those of the one that it replaces. */
export function continueIds(database: Database, replaced: Database | undefined): void {
  if (replaced === undefined || !hasTable(replaced, 'sqlite_sequence')) return
  const rows = replaced.prepare<[], {name: string; seq: number}>('SELECT name, seq FROM sqlite_sequence').all()
  for (const {name, seq} of rows) if (hasTable(database, name)) raiseAssigned(database, name, seq)
}

/**
 * Starts a new life of a log, an AUTOINCREMENT table. Its ids continue at the time, Unix ms, so that they differ from
 * those of all earlier lives even if the replaced database is unknown.
 * @returns the `first_id` and the `last_id` of the life
 */
export function startLife(
  database: Database,
  replaced: Database | undefined,
  table: string,
  now: Date,
): {first: number; last: number} {
  database.exec(livesTable)
  const last = lastAssigned(database, table)
  const earlier = replaced === undefined ? 0 : lastAssigned(replaced, table)
  const first = Math.max(now.getTime(), last + 1, earlier + 1)
  raiseAssigned(database, table, first)
  database.prepare('INSERT INTO svc_log_lives (first_id, last_id) VALUES (?, ?)').run(first, last)
  return {first, last}
}
