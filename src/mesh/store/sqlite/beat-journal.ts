import type {Database} from 'better-sqlite3'
import type {Turn} from './group-commit.js'
import {type KnownNode, listOf, type NodeRegistry, type Seen} from './node-registry.js'

/**
 * Heartbeats on the disk. Those of a transaction are one row of a journal: among a hundred thousand nodes each would
 * otherwise change a page of its own. From time to time what they say is brought into the rows of the nodes, page by
 * page in the order of their keys.
 */
export interface BeatJournal {
  /** Number of a write that is newer than all before. */
  next(turn: Turn): number
  /** Number of the write that the heartbeats of this transaction are in. */
  current(turn: Turn): number
  /** Notes what a heartbeat has changed. */
  note(node: KnownNode, before: Seen): void
  /** Writes the journal, at the end of the transaction, and brings in a part of it where that is due. */
  flush(turn: Turn): void
  /** Brings in a part, due or not. @returns whether there is more */
  fold(turn: Turn): boolean
}

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

/** A row of the journal. */
interface Written {
  at: number
  beats: Entry[]
}

/** How far the journal is brought in: the last row that is, and the node after which it goes on. */
interface Fold {
  upTo: number
  scope: string
  node: string
  isWalked: boolean
}

/** Heartbeats per node, and at least, before they are brought in. */
const beatsPerNode = 4
const fewestBeats = 256
/** Rows of one part. */
const foldedNodes = 500
const foldedRows = 64

export function openBeatJournal(database: Database, nodes: NodeRegistry): BeatJournal {
  const insert = database.prepare<[number, string]>('INSERT INTO mesh_node_beats (beat, beats) VALUES (?, ?)')
  const walk = database.prepare<[string, string, number], {scope_id: string; node_id: string; beat: number}>(
    'SELECT scope_id, node_id, beat FROM mesh_node_seen WHERE (scope_id, node_id) > (?, ?) ORDER BY scope_id, node_id LIMIT ?',
  )
  const update = database.prepare(
    'UPDATE mesh_node_seen SET last_seen = ?, incarnation = ?, seq = ?, superseded = ?, cpu = ?, memory = ?, beat = ? WHERE scope_id = ? AND node_id = ?',
  )
  const forget = database.prepare<[number, number]>(
    'DELETE FROM mesh_node_beats WHERE beat IN (SELECT beat FROM mesh_node_beats WHERE beat <= ? ORDER BY beat LIMIT ?)',
  )

  const replayed = replay(database, nodes)
  let journaled = replayed.beats
  let last = replayed.last
  let entries: Entry[] = []
  let current: {beat: number; at: number} | undefined
  let fold: Fold | undefined

  function next(turn: Turn): number {
    turn.undo(() => {
      last -= 1
    })
    last += 1
    return last
  }

  function setFold(turn: Turn, state: Fold | undefined): void {
    const before = fold
    fold = state
    turn.undo(() => {
      fold = before
    })
  }

  function beginFold(turn: Turn): Fold {
    const before = journaled
    journaled = 0
    turn.undo(() => {
      journaled = before
    })
    return {upTo: last, scope: '', node: '', isWalked: false}
  }

  function foldPart(turn: Turn): boolean {
    if (fold === undefined && journaled === 0) return false
    const {upTo, scope, node, isWalked} = fold ?? beginFold(turn)
    if (isWalked) {
      const {changes} = forget.run(upTo, foldedRows)
      if (changes < foldedRows) setFold(turn, undefined)
      return changes === foldedRows
    }
    const rows = walk.all(scope, node, foldedNodes)
    for (const row of rows) bringIn(row)
    const {scope_id, node_id} = rows.at(-1) ?? {scope_id: scope, node_id: node}
    setFold(turn, {upTo, scope: scope_id, node: node_id, isWalked: rows.length < foldedNodes})
    return true
  }

  function bringIn({scope_id, node_id, beat}: {scope_id: string; node_id: string; beat: number}): void {
    const seen = nodes.any(scope_id, node_id)?.seen
    if (seen === undefined || seen.beat <= beat) return
    const {lastSeen, incarnation, seq, superseded, cpu, memory} = seen
    update.run(lastSeen, incarnation, seq, listOf(superseded), cpu, memory, seen.beat, scope_id, node_id)
  }

  const isDue = () => fold !== undefined || journaled >= Math.max(fewestBeats, beatsPerNode * nodes.total())

  return {
    next,
    current(turn) {
      if (current === undefined) {
        current = {beat: next(turn), at: turn.now}
        turn.undo(() => {
          current = undefined
          entries = []
        })
      }
      return current.beat
    },
    note({no, seen}, before) {
      const {lastSeen, incarnation, seq, superseded, cpu, memory} = seen
      const isSame = incarnation === before.incarnation && superseded === before.superseded
      const ago = (current?.at ?? 0) - lastSeen
      entries.push(isSame ? [no, ago, seq, cpu, memory] : [no, ago, seq, cpu, memory, incarnation, superseded])
    },
    flush(turn) {
      if (current === undefined) return
      insert.run(current.beat, JSON.stringify({at: current.at, beats: entries} satisfies Written))
      const added = entries.length
      journaled += added
      turn.undo(() => {
        journaled -= added
      })
      entries = []
      current = undefined
      if (isDue()) foldPart(turn)
    },
    fold: foldPart,
  }
}

/** Brings what the journal says into the nodes in memory. @returns how many heartbeats it has, and the newest number */
function replay(database: Database, nodes: NodeRegistry): {beats: number; last: number} {
  const rows = database.prepare<[], {beat: number; beats: string}>(
    'SELECT beat, beats FROM mesh_node_beats ORDER BY beat',
  )
  const byNo = new Map([...nodes.each()].map((node) => [node.no, node]))
  let replayed = 0
  let last = 0
  for (const {seen} of byNo.values()) last = Math.max(last, seen.beat)
  for (const {beat, beats: text} of rows.iterate()) {
    const {at, beats} = JSON.parse(text) as Written
    replayed += beats.length
    // Also of nodes that have left: no number is written twice.
    last = Math.max(last, beat)
    for (const [no, ago, seq, cpu, memory, ...process] of beats) {
      const seen = byNo.get(no)?.seen
      // A node that has joined since, or was brought in already, is known better.
      if (seen === undefined || seen.beat > beat) continue
      Object.assign(seen, {lastSeen: at - ago, seq, cpu, memory, beat})
      const [incarnation, superseded] = process
      if (incarnation !== undefined) Object.assign(seen, {incarnation, superseded})
    }
  }
  return {beats: replayed, last}
}
