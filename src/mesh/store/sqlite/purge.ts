import type {Database} from 'better-sqlite3'
import type {Backlog, Counted} from './backlog.js'
import type {KnownNode} from './node-record.js'
import type {NodeRegistry} from './node-registry.js'
import type {Transaction} from './transaction.js'
import type {UsedTokens} from './used-tokens.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** How long things are kept after their end, ms. */
export const retention = {
  /** Also the time for which an idempotency key recognises a repetition. */
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

/** A statement that removes rows of a table whose column holds a time up to one, the first of them. */
const removeUpTo = (table: string, key: string, column: string) =>
  `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?)`

const prepare = (database: Database) => ({
  acknowledged: database.prepare<[number, number]>(removeUpTo('mesh_messages', 'id', 'acked_at')),
  dead: database.prepare<[number, number], Counted & {acked_at: number | null}>(
    `${removeUpTo('mesh_messages', 'id', 'dead_at')} RETURNING scope_id, receiver, task_kind, priority, acked_at`,
  ),
  leases: database.prepare<[number, number]>(removeUpTo('mesh_exec_leases', 'lease_id', 'ended_at')),
  audit: database.prepare<[number, number]>(removeUpTo('mesh_audit', 'id', 'at')),
})

interface PurgeParts {
  backlog: Backlog
  usedTokens: UsedTokens
  nodes: NodeRegistry
  /** As if the node had asked for it: its quarantine stays. */
  leave: (transaction: Transaction, node: KnownNode) => void
}

/** Removes what has had its time, a bounded part of each table at once. */
export class Purge {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: PurgeParts
  /** The nodes that were not looked at yet. */
  #walk: Iterator<KnownNode> | undefined

  constructor(database: Database, parts: PurgeParts) {
    this.#sql = prepare(database)
    this.#parts = parts
  }

  /** @returns whether there is more */
  run(transaction: Transaction): boolean {
    const {now} = transaction
    const {acknowledged, leases, audit} = this.#sql
    const removed: readonly (readonly [rows: number, most: number])[] = [
      [acknowledged.run(now - retention.acknowledged, messagesAtOnce).changes, messagesAtOnce],
      [this.#removeDead(transaction), messagesAtOnce],
      [leases.run(now - retention.lease, rowsAtOnce).changes, rowsAtOnce],
      [audit.run(now - retention.audit, rowsAtOnce).changes, rowsAtOnce],
      [this.#parts.usedTokens.forgetTokenIds(transaction, rowsAtOnce), rowsAtOnce],
    ]
    return [this.#removeUnseen(transaction), removed.some(([rows, most]) => rows === most)].includes(true)
  }

  #removeDead(transaction: Transaction): number {
    const rows = this.#sql.dead.all(transaction.now - retention.dead, messagesAtOnce)
    for (const row of rows) if (row.acked_at === null) this.#parts.backlog.move(transaction, row, 'dead', 'gone')
    return rows.length
  }

  /** @returns whether there are nodes that were not looked at yet */
  #removeUnseen(transaction: Transaction): boolean {
    this.#walk ??= this.#parts.nodes.each()
    let removed = 0
    for (let looked = 0; looked < nodesAtOnce && removed < rowsAtOnce; looked++) {
      const {value: node, done} = this.#walk.next()
      if (done) {
        this.#walk = undefined
        return false
      }
      if (node.leftAt !== null || node.seen.lastSeen > transaction.now - retention.node) continue
      this.#parts.leave(transaction, node)
      removed += 1
    }
    return true
  }
}
