import type {Database} from 'better-sqlite3'
import type {Scope} from '../mesh-store.js'
import type {Turn} from './group-commit.js'
import {readTold, type Told} from './node-record.js'

/**
 * When a node was heard of last, by which of its processes, and what that told of its load. It is changed in place:
 * heartbeats are too many to leave something behind each.
 */
export interface Seen {
  /** Unix ms of the clock of the store. */
  lastSeen: number
  incarnation: number | null
  seq: number | null
  /** The processes that had the id before this one, the last of them, newest last. */
  superseded: readonly number[]
  cpu: number | null
  memory: number | null
  /** Number of the write that this is in: one with a greater number is newer. */
  beat: number
}

/** A node as the store knows it. But for when it was seen it is never changed, but replaced. */
export interface KnownNode {
  /** Its number in the journal of heartbeats; one that comes back has another. */
  no: number
  scope: Scope
  id: string
  told: Told
  trust: string
  maintenance: boolean
  maintenanceUntil: number | null
  quarantined: boolean
  joinedAt: number
  /** It has left; what is known is only that it must not come back unseen. */
  leftAt: number | null
  readonly seen: Seen
}

/**
 * Every node, in memory as on the disk: heartbeats come so often, and every claim asks for its node, that reading rows
 * would cost more than all else. The file is held by this process alone, so nobody else changes them.
 */
export interface NodeRegistry {
  /** A node that has joined and not left. */
  present(scope: Scope, id: string): KnownNode | undefined
  /** Also one that has left in quarantine. */
  any(scope: Scope, id: string): KnownNode | undefined
  put(turn: Turn, node: KnownNode): void
  remove(turn: Turn, node: KnownNode): void
  /** Nodes that are present. */
  count(scope: Scope): number
  total(): number
  /** All of them, also those that have left in quarantine. */
  each(): Iterable<KnownNode>
}

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

const fromRow = (row: Row): KnownNode => ({
  no: row.node_no,
  scope: row.scope_id,
  id: row.node_id,
  told: readTold(row.record_json),
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
    beat: row.beat ?? 0,
  },
})

/** Numbers as they stand in a column: most nodes have none. */
export const listOf = (numbers: readonly number[]): string | null =>
  numbers.length === 0 ? null : JSON.stringify(numbers)

export function loadNodes(database: Database): NodeRegistry {
  const scopes = new Map<Scope, {nodes: Map<string, KnownNode>; present: number}>()
  let total = 0

  function set(scope: Scope, id: string, node: KnownNode | undefined): void {
    let all = scopes.get(scope)
    if (all === undefined) {
      all = {nodes: new Map(), present: 0}
      scopes.set(scope, all)
    }
    const change = Number(node?.leftAt === null) - Number(all.nodes.get(id)?.leftAt === null)
    all.present += change
    total += change
    if (node === undefined) all.nodes.delete(id)
    else all.nodes.set(id, node)
  }

  const any = (scope: Scope, id: string) => scopes.get(scope)?.nodes.get(id)

  function replace(turn: Turn, {scope, id}: KnownNode, node: KnownNode | undefined): void {
    const before = any(scope, id)
    set(scope, id, node)
    turn.undo(() => set(scope, id, before))
  }

  const rows = database.prepare<[], Row>('SELECT * FROM mesh_nodes LEFT JOIN mesh_node_seen USING (scope_id, node_id)')
  for (const row of rows.iterate()) set(row.scope_id, row.node_id, fromRow(row))

  return {
    present(scope, id) {
      const node = any(scope, id)
      return node?.leftAt === null ? node : undefined
    },
    any,
    put: (turn, node) => replace(turn, node, node),
    remove: (turn, node) => replace(turn, node, undefined),
    count: (scope) => scopes.get(scope)?.present ?? 0,
    total: () => total,
    *each() {
      for (const {nodes} of scopes.values()) yield* nodes.values()
    },
  }
}
