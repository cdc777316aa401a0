import type pg from 'pg'
import {maxReplicas, type Replica} from '../../protocol/replica.js'
import {newReplica} from '../replica.js'
import {type Database, statement} from './database.js'
import {presenceLock} from './session.js'

/** Server processes of the sessions that hold the lock of open stores. */
const present = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${presenceLock}
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

const sql = {
  clear: 'DELETE FROM mesh_replicas r WHERE NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = r.pid)',
  register: `INSERT INTO mesh_replicas (pid, id, version, host, since_unix_ms)
VALUES (pg_backend_pid(), $1, $2, $3, coalesce($4, mesh_now()))
ON CONFLICT (pid) DO UPDATE SET id = $1, version = $2, host = $3, since_unix_ms = excluded.since_unix_ms
RETURNING since_unix_ms`,
  list: statement(`SELECT id, version, host, since_unix_ms FROM mesh_replicas WHERE pid IN (${present})
ORDER BY since_unix_ms, id LIMIT ${maxReplicas}`),
}

/** The stores that are open. Each has a row under the server process of its session, which ends with its connection. */
export class Replicas {
  readonly #database: Database
  readonly #self = newReplica(0)

  constructor(database: Database) {
    this.#database = database
  }

  /** Registers this store under a new connection of its session. */
  async register(client: pg.Client): Promise<void> {
    const {id, version, host, since_unix_ms: since} = this.#self
    await client.query(sql.clear)
    const {rows} = await client.query(sql.register, [id, version, host, since === 0 ? null : since])
    this.#self.since_unix_ms = rows[0].since_unix_ms
  }

  list(): Promise<Replica[]> {
    return this.#database.query<Replica>(sql.list)
  }
}
