import {createHash, randomUUID} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import pg from 'pg'
import {SvcError} from '../../../errors/index.js'
import {isRejected, isRepeatable, unavailable} from './fault.js'
import {type ServerSettings, splitUrl} from './server-settings.js'

export interface PostgresOptions {
  /** Maximum number of connections, besides one for notifications; default 8. */
  poolSize?: number
  /** Timeout of a statement, ms; default 10,000. */
  statementTimeoutMs?: number
  /** Timeout of a connection attempt, ms; default 5000. */
  connectTimeoutMs?: number
}

/** A prepared statement, whose name is derived from its SQL. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export const statement = (text: string): Statement => ({
  name: createHash('sha256').update(text).digest('base64url'),
  text,
})

/**
 * Settings of a connection. All statements find few rows by their keys. A plan is kept, because a new one for each execution
 * costs more than the statement; it must suit a table that has grown since. JIT would compile scans of tables without index.
 */
const plannerSettings: ServerSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
}

/** A connection with a session of its own. */
export interface ServerSession {
  client: pg.Client
  /** Id of the server process; a proxy reports another one when a client connects. */
  pid: number
}

type Values = readonly unknown[]

/** Runs a statement. @returns its rows */
export type Query = <T>({name, text}: Statement, values?: Values) => Promise<T[]>

/** Maximum number of attempts after deadlocks, serialisation failures and lost connections. */
const maxAttempts = 5
/** Maximum pause before such an attempt, ms. */
const maxPauseMs = 20
/** Additional time for the answer to a statement that has timed out on the server, ms. */
const answerMs = 5000

const probeChannel = 'svc_mesh_probe'

const arrayOfInt8 = 1016

/** Reads 64-bit integers as numbers, since no id or time reaches 2^53, and leaves JSON as text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text') => {
    if (oid === pg.types.builtins.INT8) return Number
    if (oid === arrayOfInt8) return (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number))
    if (oid === pg.types.builtins.JSON || oid === pg.types.builtins.JSONB) return String
    return pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/** Connections to a PostgreSQL database. */
export class Database {
  /** Host, port and name of the database, without credentials. */
  readonly server: string
  readonly #config: pg.ClientConfig
  /** Set after connecting: proxies refuse them in the startup message, or drop them without notice. */
  readonly #settings: ServerSettings
  readonly #connectTimeoutMs: number
  readonly #pool: pg.Pool
  readonly #poolSize: number
  #busy = 0
  /** Operations that wait for a connection: the pool would count that time as a connection attempt. */
  readonly #waiting: (() => void)[] = []

  /** @param url URI of libpq; a missing password comes from PGPASSWORD or the file PGPASSFILE */
  constructor(url: string, {poolSize = 8, statementTimeoutMs = 10_000, connectTimeoutMs = 5000}: PostgresOptions) {
    const {connectionString, settings} = splitUrl(url)
    this.#poolSize = poolSize
    this.#connectTimeoutMs = connectTimeoutMs
    this.#settings = {
      ...plannerSettings,
      statement_timeout: `${statementTimeoutMs}`,
      // A process that is stopped within a transaction must not keep its locks.
      idle_in_transaction_session_timeout: `${statementTimeoutMs}`,
      ...settings,
    }
    this.#config = {
      connectionString,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs + answerMs,
      application_name: 'svc mesh',
      keepAlive: true,
      types,
    }
    const {host, port, database} = new pg.Client(this.#config)
    this.server = `${host.startsWith('/') ? host : `${host}:${port}`}/${database ?? ''}`
    this.#pool = new pg.Pool({
      ...this.#config,
      max: poolSize,
      onConnect: (client) => {
        client.on('error', ignore)
        return this.#prepare(client)
      },
    })
    // The pool replaces a connection that fails, and the statement in progress reports the error.
    this.#pool.on('error', ignore)
  }

  /** Number of operations that wait for an answer or a connection. */
  get depth(): number {
    return this.#busy + this.#waiting.length
  }

  /**
   * Opens a connection outside the pool.
   * @throws store_session_missing; driver errors
   */
  async openSession(): Promise<ServerSession> {
    const client = await this.#connect()
    try {
      const {rows} = await client.query('SELECT pg_backend_pid() AS pid')
      const {pid} = rows[0] as {pid: number}
      const isProxied = pid !== (client as pg.Client & {processID?: number | null}).processID
      if (isProxied && !(await this.#isNotified(client))) throw this.#withoutSession()
      return {client, pid}
    } catch (error) {
      void client.end().catch(ignore)
      throw error
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config).on('error', ignore)
    try {
      await client.connect()
      await this.#prepare(client)
      return client
    } catch (error) {
      void client.end().catch(ignore)
      throw error
    }
  }

  /** Sets the settings of a connection, and reads them back. */
  async #prepare(client: pg.ClientBase): Promise<void> {
    const values = Object.entries(this.#settings)
    const read = async (sql: string, ...columns: string[][]) => {
      const question = {text: sql, values: columns, query_timeout: this.#connectTimeoutMs}
      const {rows} = await client.query<{value: string}>(question)
      return rows.map(({value}) => value).join('\n')
    }
    const names = values.map(([name]) => name)
    const settings = values.map(([, value]) => value)
    // One after the other: the driver is going to refuse a statement while another one runs.
    const set = await read(
      'SELECT set_config(n, v, false) AS value FROM unnest($1::text[], $2::text[]) s (n, v)',
      names,
      settings,
    )
    const found = await read('SELECT current_setting(n) AS value FROM unnest($1::text[]) s (n)', names)
    if (set !== found) throw this.#withoutSession()
  }

  /** True if a connection receives a notification of another one before its next answer. */
  async #isNotified(client: pg.Client): Promise<boolean> {
    const probe = randomUUID()
    let isNotified = false
    const listener = ({payload}: pg.Notification) => {
      isNotified ||= payload === probe
    }
    client.on('notification', listener)
    await client.query(`LISTEN ${probeChannel}`)
    const other = await this.#connect()
    try {
      await other.query(`SELECT pg_notify('${probeChannel}', $1)`, [probe])
    } finally {
      await other.end().catch(ignore)
    }
    await client.query(`UNLISTEN ${probeChannel}`)
    client.off('notification', listener)
    return isNotified
  }

  #withoutSession(): SvcError {
    return new SvcError('store_session_missing', {path: this.server})
  }

  /** @throws store_unavailable, store_outcome_unknown */
  query: Query = (statement, values) => this.#run((query) => query(statement, values))

  /** @throws store_unavailable, store_outcome_unknown */
  async one<T>(statement: Statement, values?: Values): Promise<T> {
    const [row] = await this.query<T>(statement, values)
    return row as T
  }

  /**
   * Runs statements in one transaction, possibly several times. It is rolled back if the function throws.
   * @throws store_unavailable, store_outcome_unknown
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#run(async (query) => {
      await query(begin)
      const result = await work(query)
      await query(commit)
      return result
    })
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #run<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (this.#busy === this.#poolSize) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#busy += 1
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#attempt(work)
        } catch (error) {
          const {cause} = error as SvcError
          if (!isRepeatable(cause) || attempt === maxAttempts) throw error
          await sleep(Math.random() * maxPauseMs)
        }
      }
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#busy -= 1
      else next()
    }
  }

  /** @throws store_unavailable, store_outcome_unknown */
  async #attempt<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw unavailable(error, this.server, false)
    })
    let isOpen = false
    const query: Query = async ({name, text}, values = []) => {
      isOpen ||= text === begin.text
      const {rows} = await client.query({name, text, values: [...values]})
      isOpen &&= text !== commit.text
      return rows
    }
    try {
      const result = await work(query)
      client.release()
      return result
    } catch (error) {
      const failed = unavailable(error, this.server, true)
      const isBroken = failed.cause !== undefined && !isRejected(failed.cause)
      const isClean = !isBroken && (!isOpen || (await rollBack(client)))
      client.release(!isClean)
      throw failed
    }
  }
}

const ignore = () => undefined

const begin = statement('BEGIN')
const commit = statement('COMMIT')

/** @returns false if the connection cannot be used again */
const rollBack = (client: pg.PoolClient): Promise<boolean> =>
  client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
