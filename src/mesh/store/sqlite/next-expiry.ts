import type {Database, Statement} from 'better-sqlite3'
import {type Transaction, TransactionalValue} from './transaction.js'

/** Tracks the earliest expiry in a table, so that a sweep reads the table only if a row has expired. */
export class NextExpiry {
  readonly #first: Statement<[], number | null>
  /** Lower bound of the earliest expiry, Unix ms. */
  readonly #at: TransactionalValue<number>

  /** @param first SQL query for the earliest expiry, Unix ms */
  constructor(database: Database, first: string) {
    this.#first = database.prepare<[], number | null>(first).pluck()
    this.#at = new TransactionalValue(this.#read())
  }

  isDue(now: number): boolean {
    return now >= this.#at.value
  }

  /** Must be called for each written row. */
  add(transaction: Transaction, expires: number): void {
    if (expires < this.#at.value) this.#at.set(transaction, expires)
  }

  /** Must be called after a sweep. */
  reload(transaction: Transaction): void {
    this.#at.set(transaction, this.#read())
  }

  #read(): number {
    return this.#first.get() ?? Number.POSITIVE_INFINITY
  }
}
