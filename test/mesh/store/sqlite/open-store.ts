import {randomUUID} from 'node:crypto'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import type {Database} from 'better-sqlite3'
import type {MeshStore, StoreLimits} from '../../../../src/mesh/store/mesh-store.js'
import type {SqliteMeshStoreOptions} from '../../../../src/mesh/store/sqlite/open.js'
import {openSqliteMeshStore} from '../../../../src/mesh/store/sqlite/open.js'
import {Driver} from '../../../support/sqlite.js'
import {temporaryFolder} from '../../../support/temporary.js'
import type {OpenStore} from '../conformance/story.js'

export const limits: StoreLimits = {leaseMs: 120_000, maxMessages: 50_000, maxMessagesPerReceiver: 10_000}

/** Database path in a temporary folder of the test. */
export const newPath = async (test: TestContext): Promise<string> =>
  join(await temporaryFolder(test), `${randomUUID()}.db`)

export async function openAt(
  test: Pick<TestContext, 'after'>,
  path: string,
  options?: SqliteMeshStoreOptions,
): Promise<MeshStore> {
  const store = await openSqliteMeshStore(path, limits, options)
  test.after(() => store.close())
  return store
}

/** Opens the stores of a suite in one folder. */
export const openIn =
  (folder: string): OpenStore =>
  async (_test, {place, limits, ...sources}) =>
    openSqliteMeshStore(join(folder, `${place}.db`), limits, sources)

/** Opens a store with the node `n1`. */
export async function openNew(
  test: TestContext,
  options?: SqliteMeshStoreOptions,
): Promise<{path: string; store: MeshStore}> {
  const path = await newPath(test)
  const store = await openAt(test, path, options)
  await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
  return {path, store}
}

/** Opens another connection to the database, like another process. */
export function connect(test: Pick<TestContext, 'after'>, path: string): Database {
  const database = new Driver(path, {timeout: 5000})
  test.after(() => database.close())
  return database
}
