import type pg from 'pg'
import {SvcError} from '../../../errors/index.js'
import type {ReadRow} from '../export-file.js'
import {
  type Counters,
  type ExportedRow,
  type ExportedTable,
  exportedTables,
  fromRecord,
  invalidExport,
  ownColumns,
  seenColumns,
  toRecord,
} from '../export-tables.js'
import {readReport} from '../node-record.js'
import {unavailable} from './fault.js'
import {migrate} from './migrate.js'
import {connectionsTo, openingFault} from './open.js'
import {presenceLock} from './session.js'

/** Maximum number and size (bytes) of rows per statement. */
const rowsAtOnce = 500
const bytesAtOnce = 4 << 20

/**
 * Reads all rows of a store. Each page is a transaction of its own, because an old snapshot would slow down claims.
 * @param isLive also permit a store that a control plane has open; the rows are then not of one point in time
 * @throws mesh_in_use; the errors of the database
 */
export async function* exportPostgresMesh(url: string, isLive: boolean): AsyncGenerator<ExportedRow> {
  const {client, server, close} = await connect(url)
  try {
    if (!isLive && !(await isAlone(client))) throw new SvcError('mesh_in_use', {path: server})
    for (const [table, definition] of Object.entries<ExportedTable>(exportedTables)) {
      let last = definition.key.map((name) => (definition.columns[name] === 'integer' ? 0 : ''))
      for (;;) {
        const {rows} = await client.query(pageOf(table, definition, last))
        for (const row of rows) yield {table, record: toRecord(definition, row)}
        if (rows.length === 0) break
        last = definition.key.map((name) => rows.at(-1)[name])
      }
    }
    yield {table: 'mesh_counters', record: await countersOf(client, isLive)}
  } catch (error) {
    throw unavailable(error, server, true)
  } finally {
    await close()
  }
}

/** Page of rows after a key whose total size exceeds the limit by at most one row. */
function pageOf(table: string, {key, from = table, size = '0', columns}: ExportedTable, last: unknown[]) {
  const names = key.join(', ')
  const after = key.map((_, i) => `$${i + 1}`).join(', ')
  const text = `SELECT ${Object.keys(columns).map(columnOf).join(', ')} FROM ${from} JOIN (
  SELECT ${names}, sum(size) OVER (ORDER BY ${names}) - size AS before
  FROM (SELECT ${names}, ${size} AS size FROM ${table} WHERE (${names}) > (${after}) ORDER BY ${names} LIMIT ${rowsAtOnce}) s
) p USING (${names}) WHERE before <= ${bytesAtOnce} ORDER BY ${names}`
  return {text, values: last}
}

/** A node whose last heartbeat was lost in a crash counts as just seen. */
const columnOf = (name: string) =>
  name === 'last_seen'
    ? 'CASE WHEN left_at IS NULL THEN coalesce(last_seen, (SELECT mesh_now())) END AS last_seen'
    : name

async function countersOf(client: pg.Client, isLive: boolean): Promise<Counters> {
  const last = (sequence: string) => `(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence})`
  const {rows} = await client.query(
    `SELECT ${isLive ? 'mesh_now()' : '(SELECT at FROM mesh_clock)'} AS clock, 0 AS clock_ahead, ${last('mesh_fence')} AS fence,
  ${last('mesh_message_id')} AS message_id, ${last('mesh_audit_id_seq')} AS audit_id`,
  )
  return rows[0]
}

/**
 * Fills an empty store in one transaction. The tables are created if they do not exist.
 * @param source name of the export, for errors
 * @throws store_busy, mesh_not_empty, mesh_export_invalid; the errors of the database and of the rows
 */
export async function importPostgresMesh(url: string, rows: AsyncIterable<ReadRow>, source: string): Promise<void> {
  const {client, server, close} = await connect(url)
  try {
    if (!(await isAlone(client))) throw new SvcError('store_busy', {path: server})
    await client.query('BEGIN')
    await requireEmpty(client, server)
    const batch = new Batch(client, source)
    for await (const row of rows) await batch.add(row)
    await batch.flush()
    await client.query(countInboxes)
    await client.query('COMMIT')
  } catch (error) {
    throw unavailable(error, server, true)
  } finally {
    // Rolls back a transaction that is not complete.
    await close()
  }
}

/** @throws mesh_not_empty */
async function requireEmpty(client: pg.Client, server: string): Promise<void> {
  for (const table of Object.keys(exportedTables)) {
    const {rowCount} = await client.query(`SELECT FROM ${table} LIMIT 1`)
    if (rowCount !== 0) throw new SvcError('mesh_not_empty', {path: server})
  }
}

const countInboxes = `WITH old AS (DELETE FROM mesh_inboxes), open AS (
  SELECT scope_id, receiver FROM mesh_messages WHERE acked_at IS NULL AND dead_at IS NULL)
INSERT INTO mesh_inboxes (scope_id, receiver, used, used_at)
  SELECT scope_id, receiver, count(*), mesh_now() FROM open GROUP BY 1, 2
UNION ALL SELECT scope_id, '', count(*), mesh_now() FROM open GROUP BY 1
ON CONFLICT (scope_id, receiver) DO UPDATE SET used = excluded.used, used_at = excluded.used_at`

const bytes = (encoding: BufferEncoding) => (text: string) => `\\x${Buffer.from(text, encoding).toString('hex')}`
const convert = {utf8: bytes('utf8'), hex: bytes('hex'), base64: bytes('base64')}

/** Rows of one table that are inserted together. */
class Batch {
  readonly #client: pg.Client
  readonly #source: string
  #table = ''
  #rows: string[] = []
  #bytes = 0
  #lines: [first: number, last: number] = [0, 0]

  constructor(client: pg.Client, source: string) {
    this.#client = client
    this.#source = source
  }

  async add({table, record, line}: ReadRow): Promise<void> {
    if (table !== this.#table) await this.flush()
    this.#table = table
    if (table === 'mesh_counters') return this.#setCounters(record as Counters)
    const definition: ExportedTable = exportedTables[table as keyof typeof exportedTables]
    const derived = table === 'mesh_nodes' ? derivedFrom(String(record.record_json)) : {}
    const row = JSON.stringify({...fromRecord(definition, record, convert), ...derived})
    this.#lines = [this.#rows.length === 0 ? line : this.#lines[0], line]
    this.#rows.push(row)
    this.#bytes += row.length
    if (this.#rows.length === rowsAtOnce || this.#bytes >= bytesAtOnce) await this.flush()
  }

  /** @throws mesh_export_invalid */
  async flush(): Promise<void> {
    if (this.#rows.length === 0) return
    const rows = `[${this.#rows.join(',')}]`
    this.#rows = []
    this.#bytes = 0
    const names = ownColumns(exportedTables[this.#table as keyof typeof exportedTables])
    try {
      if (this.#table !== 'mesh_nodes') return await this.#insert(this.#table, names, rows)
      await this.#insert('mesh_nodes', [...names, 'visibility', 'capabilities'], rows)
      await this.#insert('mesh_node_seen', ['scope_id', 'node_id', ...seenColumns], rows)
    } catch (error) {
      const {code = '', message} = error as pg.DatabaseError
      if (!/^2[23]/.test(code)) throw error
      throw invalidExport(this.#source, `lines ${this.#lines.join(' to ')}`, message, error)
    }
  }

  async #insert(table: string, columns: readonly string[], rows: string): Promise<void> {
    const names = columns.join(', ')
    const [beat, zero, condition] = table === 'mesh_node_seen' ? [', beat', ', 0', ' WHERE last_seen IS NOT NULL'] : []
    await this.#client.query(
      `INSERT INTO ${table} (${names}${beat ?? ''}) OVERRIDING SYSTEM VALUE
SELECT ${names}${zero ?? ''} FROM json_populate_recordset(NULL::${table}, $1)${condition ?? ''}`,
      [rows],
    )
  }

  /** The clock continues where it stopped, so that the first start extends leases and claims by the time since then. */
  async #setCounters({clock, fence, message_id, audit_id}: Counters): Promise<void> {
    await this.#client.query('UPDATE mesh_clock SET at = $1, ahead = 0, untrusted_until = 0', [clock])
    const drawn = {mesh_fence: fence, mesh_message_id: message_id, mesh_audit_id_seq: audit_id}
    for (const [sequence, value] of Object.entries(drawn))
      await this.#client.query(
        `SELECT setval('${sequence}', greatest($1::bigint, last_value)) FROM ${sequence} WHERE $1 > 0`,
        [value],
      )
  }
}

function derivedFrom(record: string): object {
  const {visibility} = readReport(record)
  const {capabilities = {}} = JSON.parse(record)
  return {visibility, capabilities}
}

interface Connection {
  client: pg.Client
  server: string
  close(): Promise<void>
}

/** @throws the errors of `openPostgresMeshStore` */
async function connect(url: string): Promise<Connection> {
  const database = connectionsTo(url)
  const {server} = database
  try {
    const {client} = await database.openSession()
    const close = () => client.end().catch(() => undefined)
    await migrate(client, server).catch(async (error: unknown) => {
      await close()
      throw error
    })
    return {client, server, close}
  } catch (error) {
    throw openingFault(error, server)
  }
}

/** Prevents control planes from using the store until the connection ends. @returns false if one uses it */
async function isAlone(client: pg.Client): Promise<boolean> {
  const {rows} = await client.query('SELECT pg_try_advisory_lock($1) AS is_locked', [presenceLock])
  return rows[0].is_locked === true
}
