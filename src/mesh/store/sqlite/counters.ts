import type {Database, Statement} from 'better-sqlite3'
import type {Transaction} from './transaction.js'

/** Numbers that are given out once: fencing tokens, ids of messages, and numbers of nodes. */
export type Counter = 'fence' | 'message_id' | 'node_no'

/** Never below what a table has, should the counters have come from an older copy. */
const floors: Readonly<Record<Counter, string>> = {
  fence: 'SELECT max(lease_id) FROM mesh_exec_leases',
  message_id: 'SELECT max(id) FROM mesh_messages',
  node_no: 'SELECT max(node_no) FROM mesh_nodes',
}

interface CounterStatements {
  read: Statement<[string], number>
  write: Statement<[string, number]>
}

/** Reads and writes the rows of `mesh_counters`. */
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

  /** Draws the next number. It is drawn when it is known that it is needed, under the lock of the transaction. */
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

  /** Writes down what was drawn, at the end of the transaction. */
  flush(): void {
    for (const name of this.#drawn) this.#write.run(name, this.#values[name])
    this.#drawn.clear()
  }
}
