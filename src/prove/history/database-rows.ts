import {loadDriver} from '../../store/index.js'
import {withClient} from './database-client.js'
import type {LeaseRow, MessageRow, NodeRow, Rows} from './history.js'

/** Store of the control planes: a SQLite file, or a PostgreSQL database. */
export type StoreUnderTest = {path: string} | {url: string}

const nodes = 'SELECT scope_id, node_id, left_at FROM mesh_nodes ORDER BY node_id'
const leases = `SELECT scope_id, scope_key, lease_id, holder, expires_at, state FROM mesh_exec_leases
WHERE lease_id IS NOT NULL ORDER BY lease_id`
const messages = (payload: string) =>
  `SELECT id, scope_id, sender, receiver, type, ${payload} AS payload, idem_key, holder, lease_expires, attempts, acked_at,
  dead_at
FROM mesh_messages ORDER BY id`

/** Reads a store with SQL of its own, independently of the server's code. */
export const readRows = (store: StoreUnderTest): Promise<Rows> =>
  'path' in store ? readFileRows(store.path) : readDatabaseRows(store.url)

async function readFileRows(path: string): Promise<Rows> {
  const Driver = await loadDriver()
  const database = new Driver(path, {readonly: true, fileMustExist: true, timeout: 20_000})
  try {
    const all = <Row>(sql: string) => database.prepare<[], Row>(sql).all()
    return {
      messages: all<MessageRow>(messages('payload')),
      leases: all<LeaseRow>(leases),
      nodes: all<NodeRow>(nodes),
      integrity: String(database.pragma('integrity_check', {simple: true})),
    }
  } finally {
    database.close()
  }
}

const readDatabaseRows = (url: string): Promise<Rows> =>
  withClient(url, async (client) => {
    const all = async <Row>(sql: string) => (await client.query(sql)).rows as Row[]
    return {
      messages: await all<MessageRow>(messages("convert_from(payload, 'UTF8')")),
      leases: await all<LeaseRow>(leases),
      nodes: await all<NodeRow>(nodes),
      integrity: 'ok',
    }
  })

/** The rows of all tables of a mesh in a database, as text, by table. */
export const readTexts = (url: string): Promise<Map<string, string>> =>
  withClient(url, async (client) => {
    const tables = await client.query<{name: string}>(
      "SELECT c.relname AS name FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE 'mesh\\_%'",
    )
    const texts = new Map<string, string>()
    for (const {name} of tables.rows) {
      const {rows} = await client.query<{row: string}>(`SELECT t::text AS row FROM "${name}" t`)
      texts.set(name, rows.map(({row}) => row).join('\n'))
    }
    return texts
  })
