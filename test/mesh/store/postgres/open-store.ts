import {randomUUID} from 'node:crypto'
import {after, type TestContext} from 'node:test'
import pg from 'pg'
import type {MeshStore, StoreLimits} from '../../../../src/mesh/store/mesh-store.js'
import {openPostgresMeshStore, type PostgresMeshStoreOptions} from '../../../../src/mesh/store/postgres/open.js'
import {createDatabase} from '../../../support/postgres.js'
import type {OpenOptions, OpenStore} from '../conformance/story.js'

export const limits: StoreLimits = {leaseMs: 120_000, maxMessages: 50_000, maxMessagesPerReceiver: 10_000}

let template: Promise<string> | undefined

/** Creates a database with the tables of a store. */
export async function newStoreDatabase(): Promise<string> {
  template ??= newTemplate()
  return createDatabase({template: await template})
}

async function newTemplate(): Promise<string> {
  const name = `svc_template_${randomUUID()}`
  const store = await openPostgresMeshStore(await createDatabase({name}), limits)
  await store.close()
  return name
}

export async function openAt(
  test: Pick<TestContext, 'after'>,
  url: string,
  options?: PostgresMeshStoreOptions,
): Promise<MeshStore> {
  const store = await openPostgresMeshStore(url, limits, options)
  test.after(() => store.close())
  return store
}

/** Empties all tables of a store. */
const emptyStore = `DO $$ BEGIN
  EXECUTE (
    SELECT 'TRUNCATE ' || string_agg(relname, ', ') || ' RESTART IDENTITY' FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND relname NOT IN ('mesh_schema', 'mesh_clock', 'test_clock'));
  PERFORM setval(oid, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace;
END $$;
UPDATE mesh_clock SET ahead = 0, untrusted_until = 0`

/** Database with a clock that only the test moves. */
class TimedDatabase {
  readonly url: string
  readonly #client: pg.Client
  #sources: Pick<OpenOptions, 'wallClock' | 'monotonic'>
  #wall = Number.NaN
  #passed = Number.NaN
  #moving: Promise<unknown> = Promise.resolve()

  private constructor(url: string, client: pg.Client, sources: OpenOptions) {
    this.url = url
    this.#client = client
    this.#sources = sources
  }

  static async create(sources: OpenOptions): Promise<TimedDatabase> {
    const url = await newStoreDatabase()
    const client = new pg.Client(url)
    await client.connect()
    await client.query(
      `CREATE TABLE test_clock AS SELECT 0::bigint AS wall;
CREATE OR REPLACE FUNCTION mesh_wall_clock() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
  $$ BEGIN RETURN (SELECT wall FROM test_clock); END $$`,
    )
    const database = new TimedDatabase(url, client, sources)
    await database.#start(sources)
    return database
  }

  /** Empties the store for another test. */
  async reuse(sources: OpenOptions): Promise<void> {
    await this.#client.query(emptyStore)
    await this.#start(sources)
  }

  async #start(sources: OpenOptions): Promise<void> {
    this.#sources = sources
    this.#wall = Number.NaN
    this.#passed = Number.NaN
    const now = sources.wallClock()
    await this.#client.query(`UPDATE test_clock SET wall = ${now}; UPDATE mesh_clock SET at = ${now}`)
  }

  /**
   * Moves the clock of the database to that of the test.
   * @param isOpen true if a store was open meanwhile, which saves the time every second
   */
  move(isOpen: boolean): Promise<unknown> {
    const {wallClock, monotonic} = this.#sources
    const passed = isOpen ? monotonic() - this.#passed : 0
    if (passed === 0 && wallClock() === this.#wall) return this.#moving
    this.#wall = wallClock()
    this.#passed = monotonic()
    this.#moving = this.#client.query(
      `UPDATE mesh_clock SET at = at + ${passed}; UPDATE test_clock SET wall = ${this.#wall}`,
    )
    return this.#moving
  }

  close(): Promise<void> {
    return this.#client.end()
  }
}

/** Opens the stores of a suite. Each place has its own database, which another one gets after its test. */
export function openInDatabases(): OpenStore {
  const places = new Map<string, TimedDatabase>()
  const free: TimedDatabase[] = []
  after(() => Promise.all([...new Set(places.values())].map((database) => database.close())))
  const take = async (test: Pick<TestContext, 'after'>, options: OpenOptions) => {
    const used = free.pop()
    await used?.reuse(options)
    const database = used ?? (await TimedDatabase.create(options))
    test.after(() => void free.push(database))
    return database
  }
  return async (test, options) => {
    const {place, limits, monotonic} = options
    const database = places.get(place) ?? (await take(test, options))
    places.set(place, database)
    await database.move(false)
    const store = await openPostgresMeshStore(database.url, limits, {monotonic, tickMs: 1 << 30})
    let closing: Promise<void> | undefined
    return new Proxy(store, {
      get(target, name) {
        const value = target[name as keyof MeshStore]
        if (typeof value !== 'function' || name === 'now' || name === 'onArrival') return value
        const call = async (args: unknown[]) => {
          await database.move(true)
          return (value as (...given: unknown[]) => unknown).apply(target, args)
        }
        if (name !== 'close') return (...args: unknown[]) => call(args)
        return () => {
          closing ??= call([]) as Promise<void>
          return closing
        }
      },
    })
  }
}
