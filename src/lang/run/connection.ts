import type {Database, Statement} from 'better-sqlite3'
import type {Table} from '../check/index.js'
import {quoted} from '../plan/index.js'
import type {Bound} from './bind.js'
import {databaseFailure, Failure} from './failure.js'

export type Rows = Record<string, unknown>

/** A connection to the database of a program, with a cache of prepared statements. */
export class Connection {
  readonly database: Database
  readonly #statements = new Map<string, Statement<unknown[], Rows>>()
  #schemaVersion: Statement<[], number> | undefined
  readonly #requirePlace: () => void

  /** @param requirePlace throws if the file of the database has been moved */
  constructor(database: Database, requirePlace: () => void = () => undefined) {
    this.database = database
    this.#requirePlace = requirePlace
  }

  statement(sql: string): Statement<unknown[], Rows> {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.database.prepare<unknown[], Rows>(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Inserts a row and returns its id. @throws Failure INT_OVERFLOW if no id is left that the language can represent */
  insert(sql: string, values: readonly Bound[], {name, sqlName}: Table): number {
    const id = Number(this.statement(sql).run(...values).lastInsertRowid)
    if (Number.isSafeInteger(id)) return id
    // Outside a transaction, the row is already stored, and the table could not be read any more.
    this.statement(`DELETE FROM ${quoted(sqlName)} WHERE "_id" > ${Number.MAX_SAFE_INTEGER}`).run()
    throw new Failure('INT_OVERFLOW', `the ids of table ${name} are used up: the largest is ${Number.MAX_SAFE_INTEGER}`)
  }

  /** The greatest id that a row of a table has had. */
  lastId({sqlName}: Table): number {
    const row = this.statement('SELECT seq FROM sqlite_sequence WHERE name = ?').get(sqlName)
    return Number(row?.seq ?? 0)
  }

  /** The number of schema changes, as seen by the current transaction. */
  schemaVersion(): number {
    this.#schemaVersion ??= this.database.prepare<[], number>('PRAGMA schema_version').pluck()
    try {
      return this.#schemaVersion.get() ?? 0
    } catch (error) {
      throw databaseFailure(error)
    }
  }

  /** @throws store_moved */
  begin(how: 'deferred' | 'immediate'): void {
    this.#requirePlace()
    this.#run(how === 'deferred' ? 'BEGIN' : 'BEGIN IMMEDIATE')
  }

  commit(): void {
    this.#run('COMMIT')
  }

  /** No effect if SQLite has already ended the transaction. */
  rollback(): void {
    if (this.database.inTransaction) this.#run('ROLLBACK')
  }

  /** Starts a part of the current transaction, which can be undone alone. */
  savepoint(): void {
    this.#run('SAVEPOINT part')
  }

  /** Ends the part. @param isUndone true to undo it */
  release(isUndone: boolean): void {
    if (isUndone) this.#run('ROLLBACK TO part')
    this.#run('RELEASE part')
  }

  /** Runs several writes atomically: in the current transaction, or in a new one. */
  together<T>(write: () => T): T {
    if (this.database.inTransaction) return write()
    this.begin('immediate')
    try {
      const value = write()
      this.commit()
      return value
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  /** Runs `work` with the given busy timeout: it blocks so long if another process holds the lock. */
  withBusyTimeout<T>(ms: number, work: () => T): T {
    this.database.pragma(`busy_timeout = ${ms}`)
    try {
      return work()
    } finally {
      this.database.pragma('busy_timeout = 0')
    }
  }

  close(): void {
    this.database.close()
  }

  #run(sql: string): void {
    try {
      this.statement(sql).run()
    } catch (error) {
      throw databaseFailure(error)
    }
  }
}
