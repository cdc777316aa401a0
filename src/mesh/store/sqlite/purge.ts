import type {Database} from 'better-sqlite3'
import type {KnownNode} from '../node-record.js'
import {blobsAtOnce, messagesAtOnce, retention, rowsAtOnce} from '../retention.js'
import type {Backlog, Counted} from './backlog.js'
import type {Blobs} from './blobs.js'
import type {NodeRegistry} from './node-registry.js'
import type {Transaction} from './transaction.js'
import type {UsedTokens} from './used-tokens.js'

/** Maximum number of nodes examined per step. */
const nodesAtOnce = 5000

/** SQL statement that deletes the oldest rows up to a time. */
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
  blobs: Blobs
  usedTokens: UsedTokens
  nodes: NodeRegistry
  /** Removes a node like its own leave request: keeps its quarantine. */
  leave: (transaction: Transaction, node: KnownNode) => void
}

/** Deletes expired rows, a bounded number per table and step. */
export class Purge {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: PurgeParts
  /** Nodes not examined yet. */
  #walk: Iterator<KnownNode> | undefined

  constructor(database: Database, parts: PurgeParts) {
    this.#sql = prepare(database)
    this.#parts = parts
  }

  /** Performs one step. @returns true if there are more rows */
  run(transaction: Transaction): boolean {
    const {now} = transaction
    const {acknowledged, leases, audit} = this.#sql
    const removed: readonly (readonly [rows: number, limit: number])[] = [
      [acknowledged.run(now - retention.acknowledged, messagesAtOnce).changes, messagesAtOnce],
      [this.#removeDead(transaction), messagesAtOnce],
      [leases.run(now - retention.lease, rowsAtOnce).changes, rowsAtOnce],
      [audit.run(now - retention.audit, rowsAtOnce).changes, rowsAtOnce],
      [this.#parts.usedTokens.forgetTokenIds(transaction, rowsAtOnce), rowsAtOnce],
      [this.#parts.blobs.removeExpired(transaction, blobsAtOnce), blobsAtOnce],
    ]
    return [this.#removeUnseen(transaction), removed.some(([rows, limit]) => rows === limit)].includes(true)
  }

  #removeDead(transaction: Transaction): number {
    const rows = this.#sql.dead.all(transaction.now - retention.dead, messagesAtOnce)
    for (const row of rows) if (row.acked_at === null) this.#parts.backlog.move(transaction, row, 'dead', 'gone')
    return rows.length
  }

  /** @returns true if there are nodes that were not examined yet */
  #removeUnseen(transaction: Transaction): boolean {
    this.#walk ??= this.#parts.nodes.each()
    let removed = 0
    for (let examined = 0; examined < nodesAtOnce && removed < rowsAtOnce; examined++) {
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
