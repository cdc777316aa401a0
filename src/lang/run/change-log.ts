import {createHash} from 'node:crypto'
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

/** The last change that a subscriber has received. */
export interface Received {
  id: number
  /** Of the change; undefined if the subscriber knows only its number. */
  mark: string | undefined
}

/** Identifies the content of a change: another change with the same number has another mark. */
function markOf({topic, entity_kind: kind, entity_id: id, change_kind: change, created_at: at}: Change): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([topic, kind, id, change, at]))
    .digest('hex')
  return digest.slice(0, 8)
}

/** The id of an event: the number of the change, and its mark. */
export const eventId = (change: Change): string => `${change.id}-${markOf(change)}`

/** Reads the id of an event, or the number of a change; undefined if it is neither. */
export function readEventId(text: string): Received | undefined {
  const [, digits, mark] = /^(\d+)(?:-([0-9a-f]{8}))?$/.exec(text) ?? []
  const id = Number(digits)
  return Number.isSafeInteger(id) ? {id, mark} : undefined
}

/** From where a subscriber continues. */
export interface ResumePoint {
  after: number
  /**
   * True if it must read everything again. Either changes that it has received do not exist, because the database was
   * restored, reset or replaced, or changes that it has not received were pruned.
   */
  isReset: boolean
}

export function resumePoint(connection: Connection, {id, mark}: Received): ResumePoint {
  const {database} = connection
  const newest = lastAssigned(database, logTable)
  if (id > newest) return {after: newest, isReset: true}
  const ended = hasTable(database, 'svc_log_lives')
    ? database
        .prepare<[number, number], number | null>(
          'SELECT max(first_id) FROM svc_log_lives WHERE last_id < ? AND first_id > ?',
        )
        .pluck()
        .get(id, id)
    : undefined
  if (ended != null) return {after: ended, isReset: true}
  const [found] = allChangesAfter(connection, id - 1, 1)
  if (mark !== undefined && found?.id === id && markOf(found) !== mark) return {after: newest, isReset: true}
  const oldest = allChangesAfter(connection, 0, 1)[0]?.id ?? newest + 1
  return {after: id, isReset: id > 0 && id + 1 < oldest}
}

/** A number that changes when another connection has committed. */
export const dataVersion = (connection: Connection): number =>
  connection.database.pragma('data_version', {simple: true}) as number
