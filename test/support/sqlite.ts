import type {Database} from 'better-sqlite3'
import {loadDriver, type Driver as SqliteDriver} from '../../src/store/index.js'

/** The SQLite driver of this Node version, for tests that access a database file without the code under test. */
export const Driver: SqliteDriver = await loadDriver()

/** Time to wait for locks of other processes, ms. */
const timeout = 20_000

/** Opens an existing database to read it, independently of the program, and closes it. */
export function readDatabase<T>(path: string, read: (database: Database) => T): T {
  const database = new Driver(path, {readonly: true, fileMustExist: true, timeout})
  try {
    return read(database)
  } finally {
    database.close()
  }
}
