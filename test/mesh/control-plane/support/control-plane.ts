import {join} from 'node:path'
import {after, type TestContext} from 'node:test'
import {configureLog} from '../../../../src/log/index.js'
import {type MeshSecrets, readCredentials} from '../../../../src/mesh/control-plane/auth/credentials.js'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../../../src/mesh/control-plane/server.js'
import type {MeshStore, StoreLimits} from '../../../../src/mesh/store/mesh-store.js'
import {openPostgresMeshStore} from '../../../../src/mesh/store/postgres/open.js'
import {openSqliteMeshStore} from '../../../../src/mesh/store/sqlite/open.js'
import {temporaryFolder} from '../../../support/temporary.js'
import {until} from '../../../support/until.js'
import {ask} from './ask.js'

// Suppress the log of errors that tests cause on purpose.
configureLog({filter: 'error', format: 'json', stream: {write: () => {}}})

/** Injected faults of a store. */
export interface Trouble {
  /** Thrown by every operation. */
  fault?: Error | undefined
  /** Reported queue depth. */
  depth?: number | undefined
  /** Collects the names of called operations. */
  asked?: string[] | undefined
}

export interface PlaneOptions extends Partial<Omit<ControlPlaneOptions, 'store' | 'credentials'>> {
  secrets?: MeshSecrets
  limits?: Partial<StoreLimits>
  /** Folder of the database; default: a new one. */
  folder?: string
  /** Clock of the store, Unix ms; default: system clock. */
  storeTime?: () => number
  /** PostgreSQL database to use instead of a file. */
  url?: string
}

export interface Plane extends ControlPlane {
  store: MeshStore
  /** May be changed at any time. */
  trouble: Trouble
}

/** Lifetime of resources of a test file; must be created before the first test. */
export function lifeOfSuite(): Pick<TestContext, 'after'> {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return {after: (end: () => unknown) => void ends.push(end)} as Pick<TestContext, 'after'>
}

/** Starts a control plane in this process with its own database, closed when the test ends. */
export async function startPlane(
  test: Pick<TestContext, 'after'>,
  {secrets = {}, limits: given = {}, folder, storeTime, url, ...options}: PlaneOptions = {},
): Promise<Plane> {
  const limits: StoreLimits = {leaseMs: 120_000, maxMessages: 1000, maxMessagesPerReceiver: 100, ...given}
  const store =
    url === undefined
      ? await openSqliteMeshStore(
          join(folder ?? (await temporaryFolder(test)), 'mesh.db'),
          limits,
          storeTime && {wallClock: storeTime, monotonic: storeTime},
        )
      : await openPostgresMeshStore(url, limits)
  const trouble: Trouble = {}
  const plane = await startControlPlane({
    address: {host: '127.0.0.1', port: 0},
    store: troubled(store, trouble),
    credentials: readCredentials(secrets),
    scope: '',
    maxBodyBytes: 524_288,
    stalePruneMs: 0,
    heartbeatsPerSec: 5000,
    ...options,
  })
  let closed: Promise<void> | undefined
  const close = (drainMs: number) => {
    closed ??= plane.close(drainMs)
    return closed
  }
  test.after(() => {
    trouble.fault = undefined
    return close(0)
  })
  return {...plane, close, store, trouble}
}

/** Wraps a store and injects faults. */
function troubled(store: MeshStore, trouble: Trouble): MeshStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'depth') return trouble.depth ?? target.depth
      const value = target[name as keyof MeshStore]
      if (typeof value !== 'function' || ['now', 'close', 'onArrival'].includes(name as string)) return value
      return async (...args: unknown[]) => {
        trouble.asked?.push(name as string)
        if (trouble.fault !== undefined) throw trouble.fault
        return (value as (...given: unknown[]) => unknown).apply(target, args)
      }
    },
  })
}

/** Waits until the metrics report `count` long polls. */
export async function waiting(plane: Plane, count: number, token?: string): Promise<void> {
  const line = `svc_mesh_long_polls ${count}\n`
  await until(async () => (await ask(plane, 'GET', '/metrics', {token})).text.includes(line), `${count} requests wait`)
}
