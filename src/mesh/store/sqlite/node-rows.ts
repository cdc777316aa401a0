import type {Database} from 'better-sqlite3'
import type {BeatJournal} from './beat-journal.js'
import type {Counters} from './counters.js'
import type {Turn} from './group-commit.js'
import {type KnownNode, listOf, type NodeRegistry, type Seen} from './node-registry.js'

/** Nodes on the disk and in memory, changed together. */
export interface NodeRows {
  /** A number for a new node. */
  nextNo(turn: Turn): number
  /** All of a node but when it was seen. */
  save(turn: Turn, node: KnownNode): void
  /** All of a node: also when it was seen, above whatever the journal of heartbeats says. */
  saveWhole(turn: Turn, node: KnownNode): void
  /** When a node was seen, as it is now: in the journal, which costs little. */
  saveSeen(turn: Turn, node: KnownNode, seen: Omit<Seen, 'beat'>): void
  /** Makes a node unseen; `keep` is what is left of it, where something is. */
  forget(turn: Turn, node: KnownNode, keep: KnownNode | undefined): void
}

export function createNodeRows(
  database: Database,
  {nodes, journal, counters}: {nodes: NodeRegistry; journal: BeatJournal; counters: Counters},
): NodeRows {
  const upsert = database.prepare(
    `INSERT INTO mesh_nodes (node_no, scope_id, node_id, trust_tier, maintenance, maintenance_until, quarantined, joined_at, left_at,
  record_json)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, node_id) DO UPDATE SET trust_tier = excluded.trust_tier,
  maintenance = excluded.maintenance, maintenance_until = excluded.maintenance_until, quarantined = excluded.quarantined,
  joined_at = excluded.joined_at, left_at = excluded.left_at, record_json = excluded.record_json`,
  )
  const upsertSeen = database.prepare(
    `INSERT INTO mesh_node_seen (scope_id, node_id, last_seen, incarnation, seq, superseded, cpu, memory, beat)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, node_id) DO UPDATE SET last_seen = excluded.last_seen, incarnation = excluded.incarnation,
  seq = excluded.seq, superseded = excluded.superseded, cpu = excluded.cpu, memory = excluded.memory, beat = excluded.beat`,
  )
  const remove = database.prepare<[string, string]>('DELETE FROM mesh_nodes WHERE scope_id = ? AND node_id = ?')
  const removeSeen = database.prepare<[string, string]>('DELETE FROM mesh_node_seen WHERE scope_id = ? AND node_id = ?')

  function save(turn: Turn, node: KnownNode): void {
    const {no, scope, id, told, trust, maintenance, maintenanceUntil, quarantined, joinedAt, leftAt} = node
    const flags = [Number(maintenance), maintenanceUntil, Number(quarantined)]
    upsert.run(no, scope, id, trust, ...flags, joinedAt, leftAt, told.record)
    nodes.put(turn, node)
  }

  return {
    nextNo: (turn) => counters.next(turn, 'node_no'),
    save,
    saveWhole(turn, node) {
      const seen = {...node.seen, beat: journal.next(turn)}
      save(turn, {...node, seen})
      const {lastSeen, incarnation, seq, superseded, cpu, memory, beat} = seen
      upsertSeen.run(node.scope, node.id, lastSeen, incarnation, seq, listOf(superseded), cpu, memory, beat)
    },
    saveSeen(turn, node, seen) {
      const before = {...node.seen}
      turn.undo(() => Object.assign(node.seen, before))
      Object.assign(node.seen, seen, {beat: journal.current(turn)})
      journal.note(node, before)
    },
    forget(turn, node, keep) {
      removeSeen.run(node.scope, node.id)
      if (keep !== undefined) return save(turn, keep)
      remove.run(node.scope, node.id)
      nodes.remove(turn, node)
    },
  }
}
