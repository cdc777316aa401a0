import type {Database, Statement} from 'better-sqlite3'
import type {Transaction} from './transaction.js'

/** Sequences of unique numbers: fencing tokens, message ids and node numbers. */
export type Counter = 'fence' | 'message_id' | 'node_no'

/** Minimum values from the tables, in case the counters were restored from an older copy. */
const floors: Readonly<Record<Counter, string>> = {
  fence: 'SELECT max(lease_id) FROM mesh_exec_leases',
  message_id: 'SELECT max(id) FROM mesh_messages',
  node_no: 'SELECT max(node_no) FROM mesh_nodes',
}

interface CounterStatements {
  read: Statement<[string], number>
  write: Statement<[string, number]>
}

export const prepareCounters = (database: Database): CounterStatements => ({
  read: database.prepare<[string], number>('SELECT value FROM mesh_counters WHERE name = ?').pluck(),
  write: database.prepare<[string, number]>(
    'INSERT INTO mesh_counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ),
})

export class Counters {
  readonly #write: Statement<[string, number]>
  readonly #values: Record<Counter, number>
  readonly #drawn = new Set<Counter>()

  constructor(database: Database) {
    const {read, write} = prepareCounters(database)
    const load = (name: Counter) =>
      Math.max(0, read.get(name) ?? 0, database.prepare<[], number | null>(floors[name]).pluck().get() ?? 0)
    this.#write = write
    this.#values = {fence: load('fence'), message_id: load('message_id'), node_no: load('node_no')}
  }

  /** Returns the last assigned number; 0 if there is none. */
  last(name: Counter): number {
    return this.#values[name]
  }

  /** Returns the next number. Must be called within a transaction, so that numbers are assigned in commit order. */
  next(transaction: Transaction, name: Counter): number {
    const before = this.#values[name]
    this.#values[name] = before + 1
    this.#drawn.add(name)
    transaction.undo(() => {
      this.#values[name] = before
      this.#drawn.delete(name)
    })
    return before + 1
  }

  /** Saves the changed counters, at the end of a transaction. */
  flush(): void {
    for (const name of this.#drawn) this.#write.run(name, this.#values[name])
    this.#drawn.clear()
  }
}
