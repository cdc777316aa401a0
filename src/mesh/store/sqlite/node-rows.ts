import type {Database} from 'better-sqlite3'
import type {Seen} from '../node-record.js'
import type {Counters} from './counters.js'
import type {HeartbeatJournal} from './heartbeat-journal.js'
import {listOf, type NodeRegistry, type NumberedNode} from './node-registry.js'
import type {Transaction} from './transaction.js'

const prepare = (database: Database) => ({
  upsert: database.prepare(
    `INSERT INTO mesh_nodes (node_no, scope_id, node_id, trust_tier, maintenance, maintenance_until, quarantined, joined_at, left_at,
  record_json)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, node_id) DO UPDATE SET trust_tier = excluded.trust_tier,
  maintenance = excluded.maintenance, maintenance_until = excluded.maintenance_until, quarantined = excluded.quarantined,
  joined_at = excluded.joined_at, left_at = excluded.left_at, record_json = excluded.record_json`,
  ),
  upsertSeen: database.prepare(
    `INSERT INTO mesh_node_seen (scope_id, node_id, last_seen, incarnation, seq, superseded, cpu, memory, beat)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, node_id) DO UPDATE SET last_seen = excluded.last_seen, incarnation = excluded.incarnation,
  seq = excluded.seq, superseded = excluded.superseded, cpu = excluded.cpu, memory = excluded.memory, beat = excluded.beat`,
  ),
  remove: database.prepare<[string, string]>('DELETE FROM mesh_nodes WHERE scope_id = ? AND node_id = ?'),
  removeSeen: database.prepare<[string, string]>('DELETE FROM mesh_node_seen WHERE scope_id = ? AND node_id = ?'),
})

interface NodeRowParts {
  nodes: NodeRegistry
  journal: HeartbeatJournal
  counters: Counters
}

/** Writes nodes to the database and the cache. */
export class NodeRows {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: NodeRowParts

  constructor(database: Database, parts: NodeRowParts) {
    this.#sql = prepare(database)
    this.#parts = parts
  }

  nextNo(transaction: Transaction): number {
    return this.#parts.counters.next(transaction, 'node_no')
  }

  /** Saves a node without its last heartbeat. */
  save(transaction: Transaction, node: NumberedNode): void {
    const {no, scope, id, reported, trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt} = node
    const flags = [Number(maintenance), maintenanceUntil, Number(quarantined)]
    this.#sql.upsert.run(no, scope, id, trust, ...flags, joinedAt, leftAt, reported.record)
    this.#parts.nodes.put(transaction, node)
  }

  /** Saves a node with its last heartbeat, which supersedes the journal. */
  saveAll(transaction: Transaction, node: NumberedNode): void {
    const seen = {...node.seen, writeNo: this.#parts.journal.next(transaction)}
    this.save(transaction, {...node, seen})
    const {lastSeen, incarnation, seq, superseded, cpu, memory, writeNo} = seen
    const {scope, id} = node
    this.#sql.upsertSeen.run(scope, id, lastSeen, incarnation, seq, listOf(superseded), cpu, memory, writeNo)
  }

  /** Saves the last heartbeat of a node in the journal. */
  saveSeen(transaction: Transaction, node: NumberedNode, seen: Omit<Seen, 'writeNo'>): void {
    const {journal} = this.#parts
    const before = {...node.seen}
    transaction.undo(() => Object.assign(node.seen, before))
    Object.assign(node.seen, seen, {writeNo: journal.current(transaction)})
    journal.add(node, before)
  }

  /** Removes a node, or reduces it to `remainder`. */
  forget(transaction: Transaction, node: NumberedNode, remainder: NumberedNode | undefined): void {
    this.#sql.removeSeen.run(node.scope, node.id)
    if (remainder !== undefined) this.save(transaction, remainder)
    else {
      this.#sql.remove.run(node.scope, node.id)
      this.#parts.nodes.remove(transaction, node)
    }
  }
}
