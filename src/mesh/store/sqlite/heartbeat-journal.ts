import type {Database} from 'better-sqlite3'
import type {Seen} from '../node-record.js'
import {listOf, type NodeRegistry, type NumberedNode} from './node-registry.js'
import {type Transaction, TransactionalValue} from './transaction.js'

/** Journal entry of a heartbeat. The last members are only present if the process of the node has changed. */
type Entry = [
  no: number,
  /** Age relative to the time of the transaction, ms. */
  ago: number,
  seq: number | null,
  cpu: number | null,
  memory: number | null,
  ...process: [] | [incarnation: number | null, superseded: readonly number[]],
]

interface JournalRow {
  at: number
  beats: Entry[]
}

/** Progress of folding: the last journal row included, and the last node processed. */
interface Fold {
  upTo: number
  scope: string
  node: string
  areNodesDone: boolean
}

/** Number of heartbeats per node, and minimum number, from which the journal is folded. */
const heartbeatsPerNode = 4
const minHeartbeats = 256
/** Maximum number of rows per step. */
const foldedNodes = 500
const foldedRows = 64

const prepare = (database: Database) => ({
  all: database.prepare<[], {beat: number; beats: string}>('SELECT beat, beats FROM mesh_node_beats ORDER BY beat'),
  insert: database.prepare<[number, string]>('INSERT INTO mesh_node_beats (beat, beats) VALUES (?, ?)'),
  walk: database.prepare<[string, string, number], SeenKey>(
    'SELECT scope_id, node_id, beat FROM mesh_node_seen WHERE (scope_id, node_id) > (?, ?) ORDER BY scope_id, node_id LIMIT ?',
  ),
  update: database.prepare(
    'UPDATE mesh_node_seen SET last_seen = ?, incarnation = ?, seq = ?, superseded = ?, cpu = ?, memory = ?, beat = ? WHERE scope_id = ? AND node_id = ?',
  ),
  forget: database.prepare<[number, number]>(
    'DELETE FROM mesh_node_beats WHERE beat IN (SELECT beat FROM mesh_node_beats WHERE beat <= ? ORDER BY beat LIMIT ?)',
  ),
})

/** Node of a row of `mesh_node_seen`, and number of the latest write that it contains. */
interface SeenKey {
  scope_id: string
  node_id: string
  beat: number
}

/**
 * Journal of heartbeats. All heartbeats of a transaction are stored in one row, because with a hundred thousand nodes
 * each heartbeat would otherwise modify a database page of its own. Periodically the journal is folded into the node
 * rows, in key order.
 */
export class HeartbeatJournal {
  readonly #sql: ReturnType<typeof prepare>
  readonly #nodes: NodeRegistry
  /** Number of heartbeats that are not folded yet. */
  readonly #pending = new TransactionalValue(0)
  /** Number of the latest write. */
  readonly #last = new TransactionalValue(0)
  readonly #fold = new TransactionalValue<Fold | undefined>(undefined)
  #write: {no: number; at: number; entries: Entry[]} | undefined

  constructor(database: Database, nodes: NodeRegistry) {
    this.#sql = prepare(database)
    this.#nodes = nodes
    this.#replay()
  }

  /** Returns the number of a new write. */
  next(transaction: Transaction): number {
    this.#last.set(transaction, this.#last.value + 1)
    return this.#last.value
  }

  /** Returns the number of the write that contains the heartbeats of this transaction. */
  current(transaction: Transaction): number {
    if (this.#write === undefined) {
      this.#write = {no: this.next(transaction), at: transaction.now, entries: []}
      transaction.undo(() => {
        this.#write = undefined
      })
    }
    return this.#write.no
  }

  /** Adds the changes of a heartbeat to the write of this transaction. */
  add({no, seen}: NumberedNode, before: Seen): void {
    if (this.#write === undefined) return
    const {lastSeen, incarnation, seq, superseded, cpu, memory} = seen
    const isSame = incarnation === before.incarnation && superseded === before.superseded
    const ago = this.#write.at - lastSeen
    this.#write.entries.push(
      isSame ? [no, ago, seq, cpu, memory] : [no, ago, seq, cpu, memory, incarnation, superseded],
    )
  }

  /** Writes the journal at the end of a transaction, and performs a folding step if due. */
  flush(transaction: Transaction): void {
    if (this.#write === undefined) return
    const {no, at, entries} = this.#write
    this.#sql.insert.run(no, JSON.stringify({at, beats: entries} satisfies JournalRow))
    this.#pending.set(transaction, this.#pending.value + entries.length)
    this.#write = undefined
    const limit = Math.max(minHeartbeats, heartbeatsPerNode * this.#nodes.total)
    if (this.#fold.value !== undefined || this.#pending.value >= limit) this.fold(transaction)
  }

  /** Performs one folding step. @returns true if there are more steps */
  fold(transaction: Transaction): boolean {
    if (this.#fold.value === undefined && this.#pending.value === 0) return false
    const {upTo, scope, node, areNodesDone} = this.#fold.value ?? this.#beginFold(transaction)
    if (areNodesDone) {
      const {changes} = this.#sql.forget.run(upTo, foldedRows)
      if (changes < foldedRows) this.#fold.set(transaction, undefined)
      return changes === foldedRows
    }
    const rows = this.#sql.walk.all(scope, node, foldedNodes)
    for (const row of rows) this.#foldInto(row)
    const {scope_id, node_id} = rows.at(-1) ?? {scope_id: scope, node_id: node}
    this.#fold.set(transaction, {upTo, scope: scope_id, node: node_id, areNodesDone: rows.length < foldedNodes})
    return true
  }

  #beginFold(transaction: Transaction): Fold {
    this.#pending.set(transaction, 0)
    return {upTo: this.#last.value, scope: '', node: '', areNodesDone: false}
  }

  #foldInto({scope_id, node_id, beat}: SeenKey): void {
    const seen = this.#nodes.any(scope_id, node_id)?.seen
    if (seen === undefined || seen.writeNo <= beat) return
    const {lastSeen, incarnation, seq, superseded, cpu, memory, writeNo} = seen
    this.#sql.update.run(lastSeen, incarnation, seq, listOf(superseded), cpu, memory, writeNo, scope_id, node_id)
  }

  /** Applies the journal to the nodes in memory. */
  #replay(): void {
    const byNo = new Map([...this.#nodes.each()].map((node) => [node.no, node]))
    let last = 0
    for (const {seen} of byNo.values()) last = Math.max(last, seen.writeNo)
    for (const {beat, beats: text} of this.#sql.all.iterate()) {
      const {at, beats} = JSON.parse(text) as JournalRow
      this.#pending.value += beats.length
      // Include writes of nodes that have left, because numbers must not be reused.
      last = Math.max(last, beat)
      for (const [no, ago, seq, cpu, memory, ...process] of beats) {
        const seen = byNo.get(no)?.seen
        // A node that has joined again or was already folded has newer data.
        if (seen === undefined || seen.writeNo > beat) continue
        Object.assign(seen, {lastSeen: at - ago, seq, cpu, memory, writeNo: beat})
        const [incarnation, superseded] = process
        if (incarnation !== undefined) Object.assign(seen, {incarnation, superseded})
      }
    }
    this.#last.value = last
  }
}
