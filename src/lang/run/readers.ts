import type {Connection} from './connection.js'

/** The time in which queries join a transaction, ms. */
const snapshotMs = 1

export interface ReadersOptions {
  open(): Promise<Connection>
  /** Checks the schema in a new transaction. @throws schema_changed */
  check(connection: Connection): void
}

/** The read-only connections to a database, opened when they are needed. */
export class Readers {
  readonly #options: ReadersOptions
  readonly #all: Connection[] = []
  readonly #idle: Connection[] = []
  /** The connection in whose transaction the queries of this iteration of the event loop read, and its start. */
  #snapshot: {reader: Connection; started: number} | undefined

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  /** Passes a connection to `work`, which owns it until it returns. */
  async use<T>(work: (reader: Connection) => Promise<T> | T): Promise<T> {
    const reader = this.#idle.pop() ?? (await this.#open())
    try {
      return await work(reader)
    } finally {
      this.#idle.push(reader)
    }
  }

  /**
   * Starts a transaction for the queries of this iteration of the event loop, since one for each would cost more than a
   * small query. It ends before the reply to a later write, so a client reads what it has written. No query joins it
   * later than `snapshotMs`, because other processes can have written since.
   * @returns undefined if no connection is open and idle
   * @throws schema_changed
   */
  snapshot(started: number): Connection | undefined {
    if (this.#snapshot !== undefined) {
      if (started - this.#snapshot.started <= snapshotMs) return this.#snapshot.reader
      this.endSnapshot()
    }
    const reader = this.#idle.at(-1)
    if (reader === undefined) return undefined
    reader.begin('deferred')
    try {
      this.#options.check(reader)
    } catch (error) {
      reader.rollback()
      throw error
    }
    this.#idle.pop()
    this.#snapshot = {reader, started}
    setImmediate(() => this.endSnapshot())
    return reader
  }

  /** Ends the transaction of this iteration of the event loop, if there is one. */
  endSnapshot(): void {
    if (this.#snapshot === undefined) return
    const {reader} = this.#snapshot
    this.#snapshot = undefined
    reader.rollback()
    this.#idle.push(reader)
  }

  close(): void {
    for (const reader of this.#all) reader.close()
  }

  async #open(): Promise<Connection> {
    const reader = await this.#options.open()
    this.#all.push(reader)
    return reader
  }
}
