import type {Database} from 'better-sqlite3'
import type {Scope} from '../mesh-store.js'
import {type KnownNode, readReport} from '../node-record.js'
import type {Transaction} from './transaction.js'

interface Row {
  node_no: number
  scope_id: string
  node_id: string
  trust_tier: string
  maintenance: number
  maintenance_until: number | null
  quarantined: number
  joined_at: number
  left_at: number | null
  record_json: string
  last_seen: number | null
  incarnation: number | null
  seq: number | null
  superseded: string | null
  cpu: number | null
  memory: number | null
  beat: number | null
}

/** Node in memory. */
export interface NumberedNode extends KnownNode {
  /** Number in the heartbeat journal; a removed node that joins again gets a new one. */
  no: number
}

const fromRow = (row: Row): NumberedNode => ({
  no: row.node_no,
  scope: row.scope_id,
  id: row.node_id,
  reported: readReport(row.record_json),
  trust: row.trust_tier,
  maintenance: row.maintenance === 1,
  maintenanceUntil: row.maintenance_until,
  quarantined: row.quarantined === 1,
  joinedAt: row.joined_at,
  leftAt: row.left_at,
  seen: {
    lastSeen: row.last_seen ?? row.joined_at,
    incarnation: row.incarnation,
    seq: row.seq,
    superseded: row.superseded === null ? [] : JSON.parse(row.superseded),
    cpu: row.cpu,
    memory: row.memory,
    writeNo: row.beat ?? 0,
  },
})

/** Column value of a list of numbers; null if empty. */
export const listOf = (numbers: readonly number[]): string | null =>
  numbers.length === 0 ? null : JSON.stringify(numbers)

/**
 * All nodes, cached in memory: every heartbeat and claim needs a node, and reading rows would dominate their cost. The
 * cache is consistent because only this process writes to the database.
 */
export class NodeRegistry {
  readonly #scopes = new Map<Scope, {nodes: Map<string, NumberedNode>; present: number}>()
  #total = 0

  constructor(database: Database) {
    const rows = database.prepare<[], Row>(
      'SELECT * FROM mesh_nodes LEFT JOIN mesh_node_seen USING (scope_id, node_id)',
    )
    for (const row of rows.iterate()) this.#set(row.scope_id, row.node_id, fromRow(row))
  }

  /** Finds a node that has not left. */
  present(scope: Scope, id: string): NumberedNode | undefined {
    const node = this.any(scope, id)
    return node?.leftAt === null ? node : undefined
  }

  /** Finds a node, including one that left in quarantine. */
  any(scope: Scope, id: string): NumberedNode | undefined {
    return this.#scopes.get(scope)?.nodes.get(id)
  }

  put(transaction: Transaction, node: NumberedNode): void {
    this.#replace(transaction, node, node)
  }

  remove(transaction: Transaction, node: NumberedNode): void {
    this.#replace(transaction, node, undefined)
  }

  count(scope: Scope): number {
    return this.#scopes.get(scope)?.present ?? 0
  }

  /** Number of present nodes of all scopes. */
  get total(): number {
    return this.#total
  }

  /** All nodes, including those that left in quarantine. */
  *each(): Generator<NumberedNode> {
    for (const {nodes} of this.#scopes.values()) yield* nodes.values()
  }

  #replace(transaction: Transaction, {scope, id}: NumberedNode, node: NumberedNode | undefined): void {
    const before = this.any(scope, id)
    this.#set(scope, id, node)
    transaction.undo(() => this.#set(scope, id, before))
  }

  #set(scope: Scope, id: string, node: NumberedNode | undefined): void {
    let all = this.#scopes.get(scope)
    if (all === undefined) {
      all = {nodes: new Map(), present: 0}
      this.#scopes.set(scope, all)
    }
    const change = Number(node?.leftAt === null) - Number(all.nodes.get(id)?.leftAt === null)
    all.present += change
    this.#total += change
    if (node === undefined) all.nodes.delete(id)
    else all.nodes.set(id, node)
  }
}
