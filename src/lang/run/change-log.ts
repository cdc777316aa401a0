import {type DatabaseKind, hasTable, lastAssigned, startLife} from '../../store/index.js'
import type {Program} from '../check/index.js'
import type {Connection} from './connection.js'

/** The table in which every write to a watched table inserts one row per topic. */
export const changeLogTable = `CREATE TABLE IF NOT EXISTS codex_change_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  topic TEXT NOT NULL,
  entity_kind TEXT,
  entity_id TEXT,
  change_kind TEXT NOT NULL,
  payload_json TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE INDEX IF NOT EXISTS codex_change_log_by_topic ON codex_change_log (topic, id);`

const logTable = 'codex_change_log'

/** The database of a program. Its change log must not assign ids again that subscribers remember. */
export const appDatabase: DatabaseKind = {
  name: 'app',
  fragments: [],
  continueFrom(database, replaced, now) {
    if (![database, replaced].some((each) => each !== undefined && hasTable(each, logTable))) return
    database.exec(changeLogTable)
    startLife(database, replaced, logTable, now)
  },
}

/** A row of the change log, as sent to subscribers. */
export interface Change {
  id: number
  topic: string
  entity_kind: string
  entity_id: string
  change_kind: 'insert' | 'update' | 'delete'
  created_at: string
}

/** The topics of each table that a `.live(topic)` query reads, in source order. */
export function topicsOf(program: Program): ReadonlyMap<string, readonly string[]> {
  const topics = new Map<string, string[]>()
  for (const {chains} of program.functions)
    for (const {table, live} of [...chains].sort((a, b) => a.start - b.start)) {
      if (live === undefined) continue
      const known = topics.get(table.name) ?? []
      if (!known.includes(live)) topics.set(table.name, [...known, live])
    }
  return topics
}

export function insertChange(
  connection: Connection,
  {topic, table, id, kind}: {topic: string; table: string; id: number; kind: Change['change_kind']},
): void {
  connection
    .statement('INSERT INTO codex_change_log (topic, entity_kind, entity_id, change_kind) VALUES (?, ?, ?, ?)')
    .run(topic, table, String(id), kind)
}

const columns = 'id, topic, entity_kind, entity_id, change_kind, created_at'

/** Changes of a topic after the given id, oldest first. */
export const changesAfter = (connection: Connection, topic: string, after: number, limit: number): Change[] =>
  connection
    .statement(`SELECT ${columns} FROM codex_change_log WHERE topic = ? AND id > ? ORDER BY id LIMIT ?`)
    .all(topic, BigInt(after), BigInt(limit)) as unknown as Change[]

/** Changes of all topics after the given id, oldest first. */
export const allChangesAfter = (connection: Connection, after: number, limit: number): Change[] =>
  connection
    .statement(`SELECT ${columns} FROM codex_change_log WHERE id > ? ORDER BY id LIMIT ?`)
    .all(BigInt(after), BigInt(limit)) as unknown as Change[]

export const lastChange = (connection: Connection): number =>
  Number((connection.statement('SELECT max(id) AS id FROM codex_change_log').get() as {id: number | null}).id ?? 0)

/** From where a subscriber continues that has received the changes up to `after`. */
export interface ResumePoint {
  after: number
  /**
   * True if the database was restored or reset since: changes that the subscriber has received do not exist, so it must
   * read everything again.
   */
  isReset: boolean
}

export function resumePoint({database}: Connection, after: number): ResumePoint {
  const newest = lastAssigned(database, logTable)
  if (after > newest) return {after: newest, isReset: true}
  const ended = hasTable(database, 'svc_log_lives')
    ? database
        .prepare<[number, number], number | null>(
          'SELECT max(first_id) FROM svc_log_lives WHERE last_id < ? AND first_id > ?',
        )
        .pluck()
        .get(after, after)
    : undefined
  return ended == null ? {after, isReset: false} : {after: ended, isReset: true}
}

/** A number that changes when another connection has committed. */
export const dataVersion = (connection: Connection): number =>
  connection.database.pragma('data_version', {simple: true}) as number
