import type {Database} from 'better-sqlite3'
import {continueIds, type DatabaseKind, hasTable} from '../../../store/index.js'
import {minSkippedTokens} from '../../protocol/lease.js'
import {type Counter, Counters, prepareCounters} from './counters.js'
import {meshStoreFragment} from './schema.js'

/**
 * The database of a control plane. A restored one continues after the one that it replaces, and skips as many fencing
 * tokens and ids as after a failover, because later ones than those of the files may have been assigned.
 */
export const meshDatabase: DatabaseKind = {
  name: 'mesh',
  fragments: [meshStoreFragment],
  continueFrom(database: Database, replaced: Database | undefined, now: Date): void {
    continueIds(database, replaced)
    const counters = new Counters(database)
    const before = replaced !== undefined && hasTable(replaced, 'mesh_counters') ? new Counters(replaced) : undefined
    const {write} = prepareCounters(database)
    // Without the replaced database, an earlier restore of the same backup is unknown, but not its time.
    const least = before === undefined ? now.getTime() : 0
    for (const name of ['fence', 'message_id', 'node_no'] satisfies Counter[])
      write.run(
        name,
        Math.max(least, counters.last(name) + minSkippedTokens, (before?.last(name) ?? 0) + minSkippedTokens),
      )
  },
}
