import type {Database, Statement} from 'better-sqlite3'
import type {QueueStats} from '../../protocol/message.js'
import type {Scope} from '../mesh-store.js'
import type {Transaction} from './transaction.js'

/** State of a message; `gone` after an acknowledgement. */
export type Place = 'waiting' | 'claimed' | 'dead' | 'gone'

/** Fields of a message by which it is counted. */
export interface Counted {
  scope_id: string
  receiver: string
  task_kind: string | null
  priority: number
}

interface Tally {
  total: number
  waiting: number
  dead: number
  byKind: Map<string, number>
  byPriority: Map<string, number>
  receivers: Map<string, {waiting: number; claimed: number}>
}

/**
 * Counts messages by state. The counts are updated incrementally, so limits and statistics take constant time.
 */
export class Backlog {
  readonly #scopes = new Map<Scope, Tally>()
  readonly #oldest: Statement<[string], number>

  constructor(database: Database) {
    const rows = database.prepare<[], Counted & {place: Place; count: number}>(
      `SELECT scope_id, receiver, task_kind, priority, CASE WHEN holder IS NULL THEN 'waiting' ELSE 'claimed' END AS place, count(*) AS count
FROM mesh_messages WHERE acked_at IS NULL AND dead_at IS NULL GROUP BY 1, 2, 3, 4, 5
UNION ALL
SELECT scope_id, receiver, task_kind, priority, 'dead', count(*) FROM mesh_messages WHERE dead_at IS NOT NULL AND acked_at IS NULL GROUP BY 1, 2, 3, 4`,
    )
    for (const row of rows.iterate()) this.#add(row, row.place, row.count)
    // By id, which an index contains. Without the index, rows that are acknowledged would be read, too.
    this.#oldest = database
      .prepare<[string], number>(
        `SELECT created_at FROM mesh_messages WHERE id = (SELECT min(id) FROM mesh_messages INDEXED BY mesh_messages_waiting
  WHERE scope_id = ? AND acked_at IS NULL AND dead_at IS NULL AND holder IS NULL)`,
      )
      .pluck()
  }

  move(transaction: Transaction, message: Counted, from: Place, to: Place): void {
    this.#add(message, from, -1)
    this.#add(message, to, 1)
    transaction.undo(() => {
      this.#add(message, to, -1)
      this.#add(message, from, 1)
    })
  }

  /** Number of waiting and claimed messages. */
  total(scope: Scope): number {
    return this.#scopes.get(scope)?.total ?? 0
  }

  /** Number of waiting and claimed messages of a receiver. */
  open(scope: Scope, receiver: string): number {
    const {waiting, claimed} = this.#scopes.get(scope)?.receivers.get(receiver) ?? {waiting: 0, claimed: 0}
    return waiting + claimed
  }

  /** Number of waiting messages of a receiver or of all receivers. */
  waiting(scope: Scope, receiver: string | undefined): number {
    const tally = this.#scopes.get(scope)
    return (receiver === undefined ? tally?.waiting : tally?.receivers.get(receiver)?.waiting) ?? 0
  }

  /** Time at which the oldest waiting message was accepted, Unix ms. */
  oldest(scope: Scope): number | undefined {
    return this.#oldest.get(scope)
  }

  stats(scope: Scope): QueueStats {
    const {waiting, dead, byKind, byPriority} = this.#tallyOf(scope)
    return {
      pending_count: waiting,
      pending_by_kind: Object.fromEntries(byKind),
      pending_by_priority: Object.fromEntries(byPriority),
      dead_count: dead,
    }
  }

  #tallyOf(scope: Scope): Tally {
    let tally = this.#scopes.get(scope)
    if (tally === undefined) {
      tally = {total: 0, waiting: 0, dead: 0, byKind: new Map(), byPriority: new Map(), receivers: new Map()}
      this.#scopes.set(scope, tally)
    }
    return tally
  }

  #add({scope_id, receiver, task_kind, priority}: Counted, place: Place, by: number): void {
    if (place === 'gone') return
    const tally = this.#tallyOf(scope_id)
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
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}
