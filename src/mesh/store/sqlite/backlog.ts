import type {Database} from 'better-sqlite3'
import type {QueueStats} from '../../protocol/message.js'
import type {Scope} from '../mesh-store.js'
import type {Turn} from './group-commit.js'

/** Where a message is: it waits for somebody, somebody has it, it was given up, or it is done with. */
export type Place = 'waiting' | 'claimed' | 'dead' | 'gone'

/** What is counted of a message. */
export interface Counted {
  scope_id: string
  receiver: string
  task_kind: string | null
  priority: number
}

/**
 * How many messages are where, counted as they move: limits and statistics cost the same however many there are.
 */
export interface Backlog {
  move(turn: Turn, message: Counted, from: Place, to: Place): void
  /** Messages that wait or are claimed. */
  total(scope: Scope): number
  /** Messages that wait or are claimed, for one receiver. */
  open(scope: Scope, receiver: string): number
  /** Messages that wait, for a receiver or for anybody. */
  waiting(scope: Scope, receiver: string | undefined): number
  stats(scope: Scope): QueueStats
}

interface Tally {
  total: number
  waiting: number
  dead: number
  byKind: Map<string, number>
  byPriority: Map<string, number>
  receivers: Map<string, {waiting: number; claimed: number}>
}

export function loadBacklog(database: Database): Backlog {
  const scopes = new Map<Scope, Tally>()

  function tallyOf(scope: Scope): Tally {
    let tally = scopes.get(scope)
    if (tally === undefined) {
      tally = {total: 0, waiting: 0, dead: 0, byKind: new Map(), byPriority: new Map(), receivers: new Map()}
      scopes.set(scope, tally)
    }
    return tally
  }

  function add({scope_id, receiver, task_kind, priority}: Counted, place: Place, by: number): void {
    if (place === 'gone') return
    const tally = tallyOf(scope_id)
    if (place === 'dead') {
      tally.dead += by
      return
    }
    tally.total += by
    const at = tally.receivers.get(receiver) ?? {waiting: 0, claimed: 0}
    at[place] += by
    if (at.waiting + at.claimed === 0) tally.receivers.delete(receiver)
    else tally.receivers.set(receiver, at)
    if (place === 'claimed') return
    tally.waiting += by
    if (task_kind !== null) addTo(tally.byKind, task_kind, by)
    addTo(tally.byPriority, String(priority), by)
  }

  const rows = database.prepare<[], Counted & {place: Place; count: number}>(
    `SELECT scope_id, receiver, task_kind, priority, CASE WHEN holder IS NULL THEN 'waiting' ELSE 'claimed' END AS place, count(*) AS count
FROM mesh_messages WHERE acked_at IS NULL AND dead_at IS NULL GROUP BY 1, 2, 3, 4, 5
UNION ALL
SELECT scope_id, receiver, task_kind, priority, 'dead', count(*) FROM mesh_messages WHERE dead_at IS NOT NULL AND acked_at IS NULL GROUP BY 1, 2, 3, 4`,
  )
  for (const row of rows.iterate()) add(row, row.place, row.count)

  return {
    move(turn, message, from, to) {
      add(message, from, -1)
      add(message, to, 1)
      turn.undo(() => {
        add(message, to, -1)
        add(message, from, 1)
      })
    },
    total: (scope) => scopes.get(scope)?.total ?? 0,
    open(scope, receiver) {
      const at = scopes.get(scope)?.receivers.get(receiver)
      return at === undefined ? 0 : at.waiting + at.claimed
    },
    waiting(scope, receiver) {
      const tally = scopes.get(scope)
      return (receiver === undefined ? tally?.waiting : tally?.receivers.get(receiver)?.waiting) ?? 0
    },
    stats(scope) {
      const {waiting, dead, byKind, byPriority} = tallyOf(scope)
      return {
        pending_count: waiting,
        pending_by_kind: Object.fromEntries(byKind),
        pending_by_priority: Object.fromEntries(byPriority),
        dead_count: dead,
      }
    },
  }
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
