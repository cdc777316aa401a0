import type {Database} from 'better-sqlite3'
import {continueIds, type DatabaseKind, hasTable} from '../../../store/index.js'
import {minSkippedTokens} from '../../protocol/lease.js'
import {type Counter, Counters, prepareCounters} from './counters.js'
import {meshStoreFragment} from './schema.js'

/**
 * Ends the leases and claims of a backup. Their holders may have released them since, or lost them to others. The next
 * renewal of a holder that still works fails, and the work can be assigned again immediately.
 */
function endHolds(database: Database, now: Date): void {
  const at = now.getTime()
  database
    .prepare(
      `INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail)
SELECT @at, scope_id, 'restore', 'lease.revoked', scope_key, json_object('lease_id', CAST(lease_id AS TEXT),
  'scope_key', scope_key, 'holder_node_id', holder, 'ended_unix_ms', @at)
FROM mesh_exec_leases WHERE state = 'granted' ORDER BY lease_id`,
    )
    .run({at})
  database.prepare("UPDATE mesh_exec_leases SET state = 'revoked', ended_at = ? WHERE state = 'granted'").run(at)
  database.prepare('UPDATE mesh_messages SET holder = NULL, lease_expires = NULL WHERE holder IS NOT NULL').run()
}

/**
 * The database of a control plane. A restored one continues after the one that it replaces. It skips as many fencing
 * tokens and ids as after a failover, because later ones than those of the files may have been assigned. Leases and
 * claims end.
 */
export const meshDatabase: DatabaseKind = {
  name: 'mesh',
  fragments: [meshStoreFragment],
  continueFrom(database: Database, replaced: Database | undefined, now: Date): void {
    continueIds(database, replaced)
    endHolds(database, now)
    const counters = new Counters(database)
    const before = replaced !== undefined && hasTable(replaced, 'mesh_counters') ? new Counters(replaced) : undefined
    const {write} = prepareCounters(database)
    // Without the replaced database, an earlier restore of the same backup is unknown, but not its time.
    const min = before === undefined ? now.getTime() : 0
    for (const name of ['fence', 'message_id', 'node_no'] satisfies Counter[])
      write.run(
        name,
        Math.max(min, counters.last(name) + minSkippedTokens, (before?.last(name) ?? 0) + minSkippedTokens),
      )
  },
}
