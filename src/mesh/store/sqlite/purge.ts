import type {Database} from 'better-sqlite3'
import type {Backlog, Counted} from './backlog.js'
import type {Credentials} from './credentials.js'
import type {Turn} from './group-commit.js'
import type {KnownNode, NodeRegistry} from './node-registry.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** How long things are kept after their end, ms. */
export const retention = {
  /** Also the time for which an idempotency key tells a repetition. */
  acknowledged: dayMs,
  dead: 7 * dayMs,
  /** The past of a key, and with it the number below which no new epoch is. */
  lease: 7 * dayMs,
  audit: 30 * dayMs,
  /** A node that was not heard of; one that comes back joins again. */
  node: 30 * dayMs,
}

/** Rows of a table that are removed at once; messages may be large. */
const rowsAtOnce = 500
const messagesAtOnce = 100
/** Nodes that are looked at at once, in memory; fewer where many are removed. */
const nodesAtOnce = 5000

/** Removes what has had its time, a bounded part of each table. Gives whether there is more. */
export function createPurge(
  database: Database,
  parts: {
    backlog: Backlog
    credentials: Credentials
    nodes: NodeRegistry
    /** As if the node had said so: its quarantine stays. */
    leave: (turn: Turn, node: KnownNode) => void
  },
) {
  const remove = (table: string, key: string, column: string) =>
    `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?)`
  const acknowledged = database.prepare<[number, number]>(remove('mesh_messages', 'id', 'acked_at'))
  const dead = database.prepare<[number, number], Counted & {acked_at: number | null}>(
    `${remove('mesh_messages', 'id', 'dead_at')} RETURNING scope_id, receiver, task_kind, priority, acked_at`,
  )
  const leases = database.prepare<[number, number]>(remove('mesh_exec_leases', 'lease_id', 'ended_at'))
  const audit = database.prepare<[number, number]>(remove('mesh_audit', 'id', 'at'))

  function removeDead(turn: Turn): number {
    const rows = dead.all(turn.now - retention.dead, messagesAtOnce)
    for (const row of rows) if (row.acked_at === null) parts.backlog.move(turn, row, 'dead', 'gone')
    return rows.length
  }

  let walk: Iterator<KnownNode> | undefined
  /** @returns whether there are nodes that were not looked at yet */
  function removeUnseen(turn: Turn): boolean {
    walk ??= parts.nodes.each()[Symbol.iterator]()
    let removed = 0
    for (let looked = 0; looked < nodesAtOnce && removed < rowsAtOnce; looked++) {
      const {value: node, done} = walk.next()
      if (done) {
        walk = undefined
        return false
      }
      if (node.leftAt !== null || node.seen.lastSeen > turn.now - retention.node) continue
      parts.leave(turn, node)
      removed += 1
    }
    return true
  }

  return (turn: Turn): boolean => {
    const {now} = turn
    const removed: readonly (readonly [rows: number, most: number])[] = [
      [acknowledged.run(now - retention.acknowledged, messagesAtOnce).changes, messagesAtOnce],
      [removeDead(turn), messagesAtOnce],
      [leases.run(now - retention.lease, rowsAtOnce).changes, rowsAtOnce],
      [audit.run(now - retention.audit, rowsAtOnce).changes, rowsAtOnce],
      [parts.credentials.forgetTokenIds(turn, rowsAtOnce), rowsAtOnce],
    ]
    return [removeUnseen(turn), removed.some(([rows, most]) => rows === most)].includes(true)
  }
}
