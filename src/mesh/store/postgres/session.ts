import {createHash} from 'node:crypto'
import type pg from 'pg'
import type {Arrival, Scope} from '../mesh-store.js'
import type {ServerSession} from './database.js'

/** Minimum interval between notifications of one process, ms. */
const notifyMs = 50
/** First and longest pause before a new connection attempt, ms. */
const firstPauseMs = 100
const maxPauseMs = 5000
/** Key of the advisory lock that every open store shares. */
export const presenceLock = 0x7376_6302
const channel = 'svc_mesh'
const shards = 256
/** Payload for arrivals in all inboxes. */
const everywhere = '*'

const shardOf = (scope: Scope, receiver: string): string =>
  String((createHash('sha1').update(`${scope}\n${receiver}`).digest()[0] as number) % shards)

export interface SessionOptions {
  /** Opens a connection. @throws store_session_missing; driver errors */
  openSession(): Promise<ServerSession>
  /** Called with the store's time, Unix ms, when it was read. */
  onTime(now: number): void
  /** Called after every new connection, before others use it. */
  onConnect(client: pg.Client): Promise<void>
  /** Monotonic time, ms. */
  monotonic(): number
  /** Interval at which the time is saved, ms. */
  tickMs: number
}

/**
 * Connection for what needs a session of its own: it saves the time every second, shows that this store is open, and
 * exchanges notifications with the stores of other processes. It reconnects when it is lost.
 */
export class StoreSession {
  readonly #options: SessionOptions
  readonly #listeners = new Set<(arrival: Arrival) => void>()
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #queue: Promise<unknown> = Promise.resolve()
  /** Shards with arrivals that other processes do not know yet. */
  readonly #arrived = new Set<string>()
  #notified = Number.NEGATIVE_INFINITY
  #notifyTimer: NodeJS.Timeout | undefined

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Connects for the first time. @throws store_session_missing; driver errors */
  async open(): Promise<void> {
    this.#use(await this.#connect(true))
  }

  onArrival(listener: (arrival: Arrival) => void): void {
    this.#listeners.add(listener)
  }

  /** Notifies other processes of messages for a receiver, or for any receiver. */
  arrived(scope: Scope, receiver: string | undefined): void {
    this.#arrived.add(receiver === undefined ? everywhere : shardOf(scope, receiver))
    if (this.#notifyTimer !== undefined) return
    const dueMs = Math.max(0, this.#notified + notifyMs - this.#options.monotonic())
    this.#notifyTimer = setTimeout(() => this.#notify(), dueMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#notifyTimer)
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    // A lost connection has nothing to save.
    await this.#tick(client, false).catch(() => undefined)
    await client.end().catch(() => undefined)
  }

  async #connect(isOpening: boolean): Promise<ServerSession> {
    const session = await this.#options.openSession()
    const {client} = session
    try {
      await this.#options.onConnect(client)
      await client.query(`LISTEN ${channel}`)
      const isFirst = isOpening && (await this.#lock(client, 'pg_try_advisory_lock'))
      // While no store was open, leases could not be renewed.
      await this.#tick(client, isFirst)
      await this.#lock(client, 'pg_advisory_lock_shared')
      if (isFirst) await this.#lock(client, 'pg_advisory_unlock')
      return session
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
  }

  /** Calls a function with the lock of open stores. @returns its result; false if it returns nothing */
  async #lock(client: pg.Client, name: string): Promise<boolean> {
    const {rows} = await client.query(`SELECT ${name}($1) AS result`, [presenceLock])
    return rows[0].result === true
  }

  #use({client, pid}: ServerSession): void {
    this.#client = client
    client.on('notification', ({payload = '', processId}) => {
      // This process has already woken its own long polls.
      if (processId !== pid) this.#receive(payload)
    })
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    this.#scheduleTick(client)
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    void client.end().catch(() => undefined)
    this.#reconnectAfter(firstPauseMs)
  }

  #reconnectAfter(pauseMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#reconnect(pauseMs), pauseMs).unref()
  }

  async #reconnect(pauseMs: number): Promise<void> {
    try {
      const session = await this.#connect(false)
      if (this.#isClosed) return void session.client.end().catch(() => undefined)
      this.#use(session)
      // Notifications were lost meanwhile.
      this.#emit(() => true)
    } catch {
      this.#reconnectAfter(Math.min(2 * pauseMs, maxPauseMs))
    }
  }

  #scheduleTick(client: pg.Client): void {
    this.#timer = setTimeout(async () => {
      await this.#tick(client, false).catch(() => this.#lost(client))
      if (this.#client === client) this.#scheduleTick(client)
    }, this.#options.tickMs).unref()
  }

  async #tick(client: pg.Client, isFirst: boolean): Promise<void> {
    const {rows} = await this.#query(client, 'SELECT mesh_tick($1) AS now', isFirst)
    this.#options.onTime(rows[0].now)
  }

  #notify(): void {
    this.#notifyTimer = undefined
    const client = this.#client
    if (client === undefined) return
    this.#notified = this.#options.monotonic()
    const payload = this.#arrived.has(everywhere) ? everywhere : [...this.#arrived].join(' ')
    this.#arrived.clear()
    // Its loss is harmless, because long polls check again regularly.
    void this.#query(client, `SELECT pg_notify('${channel}', $1)`, payload).catch(() => undefined)
  }

  /** Runs a statement after those before it: a connection runs one at a time. */
  #query(client: pg.Client, text: string, value: unknown): Promise<pg.QueryResult> {
    const result = this.#queue.then(() => client.query({name: text, text, values: [value]}))
    this.#queue = result.catch(() => undefined)
    return result
  }

  #receive(payload: string): void {
    const arrived = new Set(payload.split(' '))
    this.#emit((scope, receiver) => arrived.has(everywhere) || arrived.has(shardOf(scope, receiver)))
  }

  #emit(arrival: Arrival): void {
    for (const listener of this.#listeners) listener(arrival)
  }
}
