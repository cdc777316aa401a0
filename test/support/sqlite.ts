import {loadDriver, type Driver as SqliteDriver} from '../../src/store/index.js'

/** The SQLite driver of this Node version, for tests that access a database file without the code under test. */
export const Driver: SqliteDriver = await loadDriver()
