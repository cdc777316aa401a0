import {randomUUID} from 'node:crypto'
import type {TestContext} from 'node:test'
import type {MeshStore, StoreLimits} from '../../../../src/mesh/store/mesh-store.js'
import {openPostgresMeshStore, type PostgresMeshStoreOptions} from '../../../../src/mesh/store/postgres/open.js'
import {createDatabase, runSql} from '../../../support/postgres.js'
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

/** Database with a clock that only the test moves. */
class TimedDatabase {
  readonly #url: string
  readonly #sources: Pick<OpenOptions, 'wallClock' | 'monotonic'>
  #wall = Number.NaN
  #passed = Number.NaN
  #moving: Promise<unknown> = Promise.resolve()

  private constructor(url: string, sources: Pick<OpenOptions, 'wallClock' | 'monotonic'>) {
    this.#url = url
    this.#sources = sources
  }

  static async open(url: string, sources: OpenOptions): Promise<TimedDatabase> {
    await runSql(
      url,
      `CREATE TABLE test_clock AS SELECT ${sources.wallClock()}::bigint AS wall;
CREATE OR REPLACE FUNCTION mesh_wall_clock() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
  $$ BEGIN RETURN (SELECT wall FROM test_clock); END $$;
UPDATE mesh_clock SET at = mesh_wall_clock()`,
    )
    return new TimedDatabase(url, sources)
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
    this.#moving = runSql(
      this.#url,
      `UPDATE mesh_clock SET at = at + ${passed}; UPDATE test_clock SET wall = ${this.#wall}`,
    )
    return this.#moving
  }
}

/** Opens the stores of a suite, each place with its own database. */
export function openInDatabases(): OpenStore {
  const places = new Map<string, {url: string; database: TimedDatabase}>()
  return async (_test, options) => {
    const {place, limits, monotonic} = options
    let found = places.get(place)
    if (found === undefined) {
      const url = await newStoreDatabase()
      found = {url, database: await TimedDatabase.open(url, options)}
      places.set(place, found)
    }
    const {url, database} = found
    await database.move(false)
    const store = await openPostgresMeshStore(url, limits, {monotonic, tickMs: 1 << 30})
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
