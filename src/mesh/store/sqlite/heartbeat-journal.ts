import type {Database} from 'better-sqlite3'
import type {KnownNode, Seen} from './node-record.js'
import {listOf, type NodeRegistry} from './node-registry.js'
import {type Transaction, TransactionalValue} from './transaction.js'

/** A heartbeat in the journal; its last members only where another process speaks for the node. */
type Entry = [
  no: number,
  /** Before the time of the transaction, ms. */
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

/** How far the journal is folded in: the last row that is, and the node after which it goes on. */
interface Fold {
  upTo: number
  scope: string
  node: string
  isWalked: boolean
}

/** Heartbeats per node, and at least, before they are folded in. */
const heartbeatsPerNode = 4
const fewestHeartbeats = 256
/** Rows of one part. */
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

/** Which node a row of `mesh_node_seen` is about, and the number of the write that it holds. */
interface SeenKey {
  scope_id: string
  node_id: string
  beat: number
}

/**
 * Heartbeats on the disk. Those of a transaction are one row of a journal: among a hundred thousand nodes each would
 * otherwise change a page of its own. From time to time what they say is folded into the rows of the nodes, page by
 * page in the order of their keys.
 */
export class HeartbeatJournal {
  readonly #sql: ReturnType<typeof prepare>
  readonly #nodes: NodeRegistry
  /** Heartbeats that were written and are not folded in. */
  readonly #pending = new TransactionalValue(0)
  /** Number of the newest write. */
  readonly #last = new TransactionalValue(0)
  readonly #fold = new TransactionalValue<Fold | undefined>(undefined)
  /** The write of this transaction. */
  #write: {no: number; at: number; entries: Entry[]} | undefined

  constructor(database: Database, nodes: NodeRegistry) {
    this.#sql = prepare(database)
    this.#nodes = nodes
    this.#replay()
  }

  /** Number of a write that is newer than all before. */
  next(transaction: Transaction): number {
    this.#last.set(transaction, this.#last.value + 1)
    return this.#last.value
  }

  /** Number of the write that the heartbeats of this transaction are in. */
  current(transaction: Transaction): number {
    if (this.#write === undefined) {
      this.#write = {no: this.next(transaction), at: transaction.now, entries: []}
      transaction.undo(() => {
        this.#write = undefined
      })
    }
    return this.#write.no
  }

  /** Adds what a heartbeat has changed to the write of this transaction. */
  add({no, seen}: KnownNode, before: Seen): void {
    if (this.#write === undefined) return
    const {lastSeen, incarnation, seq, superseded, cpu, memory} = seen
    const isSame = incarnation === before.incarnation && superseded === before.superseded
    const ago = this.#write.at - lastSeen
    this.#write.entries.push(
      isSame ? [no, ago, seq, cpu, memory] : [no, ago, seq, cpu, memory, incarnation, superseded],
    )
  }

  /** Writes the journal, at the end of the transaction, and folds in a part of it where that is due. */
  flush(transaction: Transaction): void {
    if (this.#write === undefined) return
    const {no, at, entries} = this.#write
    this.#sql.insert.run(no, JSON.stringify({at, beats: entries} satisfies JournalRow))
    this.#pending.set(transaction, this.#pending.value + entries.length)
    this.#write = undefined
    const most = Math.max(fewestHeartbeats, heartbeatsPerNode * this.#nodes.total)
    if (this.#fold.value !== undefined || this.#pending.value >= most) this.fold(transaction)
  }

  /** Folds in a part, due or not. @returns whether there is more */
  fold(transaction: Transaction): boolean {
    if (this.#fold.value === undefined && this.#pending.value === 0) return false
    const {upTo, scope, node, isWalked} = this.#fold.value ?? this.#beginFold(transaction)
    if (isWalked) {
      const {changes} = this.#sql.forget.run(upTo, foldedRows)
      if (changes < foldedRows) this.#fold.set(transaction, undefined)
      return changes === foldedRows
    }
    const rows = this.#sql.walk.all(scope, node, foldedNodes)
    for (const row of rows) this.#foldInto(row)
    const {scope_id, node_id} = rows.at(-1) ?? {scope_id: scope, node_id: node}
    this.#fold.set(transaction, {upTo, scope: scope_id, node: node_id, isWalked: rows.length < foldedNodes})
    return true
  }

  #beginFold(transaction: Transaction): Fold {
    this.#pending.set(transaction, 0)
    return {upTo: this.#last.value, scope: '', node: '', isWalked: false}
  }

  #foldInto({scope_id, node_id, beat}: SeenKey): void {
    const seen = this.#nodes.any(scope_id, node_id)?.seen
    if (seen === undefined || seen.writeNo <= beat) return
    const {lastSeen, incarnation, seq, superseded, cpu, memory, writeNo} = seen
    this.#sql.update.run(lastSeen, incarnation, seq, listOf(superseded), cpu, memory, writeNo, scope_id, node_id)
  }

  /** Brings what the journal says into the nodes in memory. */
  #replay(): void {
    const byNo = new Map([...this.#nodes.each()].map((node) => [node.no, node]))
    let last = 0
    for (const {seen} of byNo.values()) last = Math.max(last, seen.writeNo)
    for (const {beat, beats: text} of this.#sql.all.iterate()) {
      const {at, beats} = JSON.parse(text) as JournalRow
      this.#pending.value += beats.length
      // Also of nodes that have left: no number is written twice.
      last = Math.max(last, beat)
      for (const [no, ago, seq, cpu, memory, ...process] of beats) {
        const seen = byNo.get(no)?.seen
        // A node that has joined since, or was folded in already, is known better.
        if (seen === undefined || seen.writeNo > beat) continue
        Object.assign(seen, {lastSeen: at - ago, seq, cpu, memory, writeNo: beat})
        const [incarnation, superseded] = process
        if (incarnation !== undefined) Object.assign(seen, {incarnation, superseded})
      }
    }
    this.#last.value = last
  }
}
