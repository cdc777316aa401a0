import {loadDriver} from '../../store/index.js'
import type {LeaseRow, MessageRow, NodeRow, Rows} from './history.js'

/** Reads the database read-only with SQL of its own, independently of the server's code. */
export async function readRows(path: string): Promise<Rows> {
  const Driver = await loadDriver()
  const database = new Driver(path, {readonly: true, fileMustExist: true, timeout: 20_000})
  try {
    const all = <Row>(sql: string) => database.prepare<[], Row>(sql).all()
    return {
      messages: all<MessageRow>(
        `SELECT id, scope_id, sender, receiver, type, payload, idem_key, holder, lease_expires, attempts, acked_at, dead_at
FROM mesh_messages ORDER BY id`,
      ),
      leases: all<LeaseRow>(
        'SELECT scope_id, scope_key, lease_id, holder, expires_at, state FROM mesh_exec_leases ORDER BY lease_id',
      ),
      nodes: all<NodeRow>('SELECT scope_id, node_id, left_at FROM mesh_nodes ORDER BY node_id'),
      integrity: String(database.pragma('integrity_check', {simple: true})),
    }
  } finally {
    database.close()
  }
}
