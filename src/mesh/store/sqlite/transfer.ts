import {stat} from 'node:fs/promises'
import type {Database} from 'better-sqlite3'
import {isErrorOf, SvcError} from '../../../errors/index.js'
import {applyFragments, openDatabase, storeError} from '../../../store/index.js'
import type {ReadRow} from '../export-file.js'
import {
  type Counters as CounterRow,
  type ExportedRow,
  type ExportedTable,
  exportedTables,
  fromRecord,
  invalidExport,
  ownColumns,
  seenColumns,
  toRecord,
} from '../export-tables.js'
import {Counters, prepareCounters} from './counters.js'
import {HeartbeatJournal} from './heartbeat-journal.js'
import {lockStoreFile} from './lock-file.js'
import {listOf, NodeRegistry} from './node-registry.js'
import {meshStoreFragment} from './schema.js'

const auditSequence = "SELECT seq FROM sqlite_sequence WHERE name = 'mesh_audit'"

/**
 * Reads all rows of a store in one snapshot.
 * @param isLive also permit a store that a control plane has open
 * @throws mesh_in_use, file_not_found; the errors of the database
 */
export async function* exportSqliteMesh(path: string, isLive: boolean): AsyncGenerator<ExportedRow> {
  await stat(path).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const unlock = isLive ? () => undefined : await lock(path)
  try {
    const database = await openDatabase(path, {readonly: isLive})
    try {
      applyFragments(database, path, [meshStoreFragment])
      database.exec('BEGIN')
      yield* rowsOf(database)
    } catch (error) {
      throw storeError(error, path)
    } finally {
      database.close()
    }
  } finally {
    unlock()
  }
}

async function lock(path: string): Promise<() => void> {
  try {
    return await lockStoreFile(path)
  } catch (error) {
    if (isErrorOf(error, 'store_busy')) throw new SvcError('mesh_in_use', {path}, {cause: error})
    throw error
  }
}

function* rowsOf(database: Database): Generator<ExportedRow> {
  const nodes = new NodeRegistry(database)
  new HeartbeatJournal(database, nodes)
  for (const [table, definition] of Object.entries<ExportedTable>(exportedTables)) {
    const {key, from = table, columns} = definition
    const rows = database.prepare<[], Record<string, unknown>>(
      `SELECT ${Object.keys(columns).join(', ')} FROM ${from} ORDER BY ${key.join(', ')}`,
    )
    for (const row of rows.iterate()) {
      if (table === 'mesh_nodes') Object.assign(row, lastHeartbeat(nodes, row))
      yield {table, record: toRecord(definition, row)}
    }
  }
  yield {table: 'mesh_counters', record: countersOf(database)}
}

/** Columns of the last heartbeat, which may only be in the journal. */
function lastHeartbeat(nodes: NodeRegistry, {scope_id, node_id}: Record<string, unknown>): object {
  const node = nodes.present(String(scope_id), String(node_id))
  if (node === undefined) return {}
  const {lastSeen, incarnation, seq, superseded, cpu, memory} = node.seen
  return {last_seen: lastSeen, incarnation, seq, superseded: listOf(superseded), cpu, memory}
}

function countersOf(database: Database): CounterRow {
  const {read} = prepareCounters(database)
  const counters = new Counters(database)
  return {
    clock: read.get('clock') ?? 0,
    clock_ahead: read.get('clock_ahead') ?? 0,
    fence: counters.last('fence'),
    message_id: counters.last('message_id'),
    audit_id: database.prepare<[], number>(auditSequence).pluck().get() ?? 0,
  }
}

/**
 * Fills an empty store in one transaction. The file is created if it does not exist.
 * @param source name of the export, for errors
 * @throws store_busy, mesh_not_empty, mesh_export_invalid; the errors of the database and of the rows
 */
export async function importSqliteMesh(path: string, rows: AsyncIterable<ReadRow>, source: string): Promise<void> {
  const unlock = await lockStoreFile(path)
  try {
    const database = await openDatabase(path, {durability: 'full'})
    try {
      applyFragments(database, path, [meshStoreFragment])
      database.exec('BEGIN IMMEDIATE')
      requireEmpty(database, path)
      const insert = prepareImport(database, source)
      for await (const row of rows) insert(row)
      database.exec('COMMIT')
    } catch (error) {
      throw storeError(error, path)
    } finally {
      // Rolls back a transaction that is not complete.
      database.close()
    }
  } finally {
    unlock()
  }
}

/** @throws mesh_not_empty */
function requireEmpty(database: Database, path: string): void {
  for (const table of Object.keys(exportedTables))
    if (database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined)
      throw new SvcError('mesh_not_empty', {path})
  // Heartbeats of nodes that were deleted would be assigned to new ones.
  database.exec('DELETE FROM mesh_node_beats')
}

type Insert = (record: ExportedRow['record']) => unknown

const bytes = (encoding: 'hex' | 'base64') => (text: string) => Buffer.from(text, encoding)
const convert = {flag: Number, json: JSON.stringify, hex: bytes('hex'), base64: bytes('base64')}

function prepareInserts(database: Database): Readonly<Record<string, Insert>> {
  const inserts = Object.entries<ExportedTable>(exportedTables).map(([table, definition]): [string, Insert] => {
    const names = ownColumns(definition)
    const statement = database.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`,
    )
    return [table, (record) => statement.run(fromRecord(definition, record, convert))]
  })
  return Object.fromEntries(inserts)
}

function prepareImport(database: Database, source: string): (row: ReadRow) => void {
  const inserts = prepareInserts(database)
  const insertSeen = database.prepare(
    `INSERT INTO mesh_node_seen (scope_id, node_id, ${seenColumns.join(', ')}, beat)
SELECT @scope_id, @node_id, ${seenColumns.map((name) => `@${name}`).join(', ')}, 0 WHERE @last_seen IS NOT NULL`,
  )
  return ({table, record, line}) => {
    try {
      if (table === 'mesh_counters') return setCounters(database, record as CounterRow)
      inserts[table]?.(record)
      if (table === 'mesh_nodes') insertSeen.run(fromRecord(exportedTables.mesh_nodes, record, convert))
    } catch (error) {
      const {code = '', message} = error as NodeJS.ErrnoException
      if (!code.startsWith('SQLITE_CONSTRAINT')) throw error
      throw invalidExport(source, `line ${line}`, message, error)
    }
  }
}

/** The clock continues where it stopped, so that the first start extends leases and claims by the time since then. */
function setCounters(database: Database, {audit_id, clock, clock_ahead, ...drawn}: CounterRow): void {
  const {write} = prepareCounters(database)
  const counters = new Counters(database)
  for (const [name, value] of Object.entries({clock, clock_ahead})) write.run(name, value)
  for (const name of ['fence', 'message_id'] as const) write.run(name, Math.max(drawn[name], counters.last(name)))
  const last = Math.max(audit_id, database.prepare<[], number>(auditSequence).pluck().get() ?? 0)
  database.exec("DELETE FROM sqlite_sequence WHERE name = 'mesh_audit'")
  database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('mesh_audit', ?)").run(last)
}
