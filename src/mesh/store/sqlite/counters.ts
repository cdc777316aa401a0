import type {Database} from 'better-sqlite3'
import type {Turn} from './group-commit.js'

/** Numbers that are given out once: fencing tokens, ids of messages, and numbers of nodes. */
export type Counter = 'fence' | 'message_id' | 'node_no'

export interface Counters {
  /** Draws the next number. It is drawn when it is known that it is needed, under the lock of the transaction. */
  next(turn: Turn, name: Counter): number
  /** Writes down what was drawn, at the end of the transaction. */
  flush(): void
}

/** Never below what a table has, should the counters have come from an older copy. */
const floors: Readonly<Record<Counter, string>> = {
  fence: 'SELECT max(lease_id) FROM mesh_exec_leases',
  message_id: 'SELECT max(id) FROM mesh_messages',
  node_no: 'SELECT max(node_no) FROM mesh_nodes',
}

export function createCounters(database: Database): Counters {
  const read = database.prepare<[string], number>('SELECT value FROM mesh_counters WHERE name = ?').pluck()
  const write = database.prepare<[string, number]>(
    'INSERT INTO mesh_counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const load = (name: Counter) =>
    Math.max(0, read.get(name) ?? 0, database.prepare<[], number | null>(floors[name]).pluck().get() ?? 0)
  const values: Record<Counter, number> = {
    fence: load('fence'),
    message_id: load('message_id'),
    node_no: load('node_no'),
  }
  const drawn = new Set<Counter>()
  return {
    next(turn, name) {
      const before = values[name]
      values[name] = before + 1
      drawn.add(name)
      turn.undo(() => {
        values[name] = before
        drawn.delete(name)
      })
      return before + 1
    },
    flush() {
      for (const name of drawn) write.run(name, values[name])
      drawn.clear()
    },
  }
}
