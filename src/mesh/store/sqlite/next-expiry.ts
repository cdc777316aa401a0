import type {Database, Statement} from 'better-sqlite3'
import {type Transaction, TransactionalValue} from './transaction.js'

/** When the next row of a table expires, so that a sweep reads the table only when something has expired. */
export class NextExpiry {
  readonly #first: Statement<[], number | null>
  /** Nothing expires before this, Unix ms. */
  readonly #at: TransactionalValue<number>

  /** @param first a query for the earliest expiry, Unix ms */
  constructor(database: Database, first: string) {
    this.#first = database.prepare<[], number | null>(first).pluck()
    this.#at = new TransactionalValue(this.#read())
  }

  isDue(now: number): boolean {
    return now >= this.#at.value
  }

  /** Takes a row into account that was written. */
  add(transaction: Transaction, expires: number): void {
    if (expires < this.#at.value) this.#at.set(transaction, expires)
  }

  /** Reads it again, after a sweep. */
  reload(transaction: Transaction): void {
    this.#at.set(transaction, this.#read())
  }

  #read(): number {
    return this.#first.get() ?? Number.POSITIVE_INFINITY
  }
}
