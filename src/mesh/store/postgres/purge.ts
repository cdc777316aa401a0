import {blobsAtOnce, messagesAtOnce, retention, rowsAtOnce} from '../retention.js'
import {type Database, type Query, statement} from './database.js'

/** Key of the advisory lock of the process that purges. */
export const purgeLock = 0x7376_6303

/** Maximum number of nodes removed per step; each holds a lock. */
const nodesAtOnce = 100

const sql = {
  lock: statement(
    `SELECT pg_try_advisory_xact_lock($1) AS is_locked, mesh_now() AS now, untrusted_until FROM mesh_clock`,
  ),
  remove: statement('SELECT mesh_remove($1::text::regclass, $2, $3, $4) AS removed'),
  nodes: statement('SELECT mesh_purge_nodes($1, $2) AS removed'),
  inboxes: statement('SELECT mesh_purge_inboxes($1, $2) AS removed'),
  leases: statement('SELECT mesh_expire_leases($1) AS removed'),
}

/** Rows that are deleted some time after a time in a column. */
const expiring: readonly (readonly [table: string, column: string, keptMs: number, limit: number])[] = [
  ['mesh_messages', 'acked_at', retention.acknowledged, messagesAtOnce],
  ['mesh_messages', 'dead_at', retention.dead, messagesAtOnce],
  ['mesh_exec_leases', 'ended_at', retention.lease, rowsAtOnce],
  ['mesh_audit', 'at', retention.audit, rowsAtOnce],
  ['mesh_jti', 'exp', 0, rowsAtOnce],
  ['mesh_blobs', 'expires_at', 0, blobsAtOnce],
]

interface Lock {
  is_locked: boolean
  now: number
  untrusted_until: number
}

/**
 * Deletes a bounded number of expired rows of each table. Does nothing while another process does so, or if the system
 * clock was set forward within the last hour.
 * @returns true if there are more
 */
export function purge(database: Database): Promise<boolean> {
  return database.transaction(async (query) => {
    const [lock] = await query<Lock>(sql.lock, [purgeLock])
    if (!lock?.is_locked || lock.now < lock.untrusted_until) return false
    const more = [
      await isFull(query, [sql.leases, [rowsAtOnce], rowsAtOnce]),
      await isFull(query, [sql.inboxes, [lock.now - retention.acknowledged, rowsAtOnce], rowsAtOnce]),
      await isFull(query, [sql.nodes, [lock.now - retention.node, nodesAtOnce], nodesAtOnce]),
    ]
    for (const [table, column, keptMs, limit] of expiring)
      more.push(await isFull(query, [sql.remove, [table, column, lock.now - keptMs, limit], limit]))
    return more.includes(true)
  })
}

/** Runs a step. @returns true if it has reached its limit */
async function isFull(
  query: Query,
  [step, values, limit]: [step: typeof sql.remove, values: unknown[], limit: number],
): Promise<boolean> {
  const [row] = await query<{removed: number}>(step, values)
  return row?.removed === limit
}
