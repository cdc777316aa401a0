import {setMaxListeners} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createCaller} from './clients/caller.js'
import type {Workload} from './clients/client-context.js'
import {createSharedState} from './clients/shared-state.js'
import {createPeers, type DelegationOptions, type Peers} from './delegation/peers.js'
import type {FaultRates} from './faults/connection-faults.js'
import type {Random} from './faults/random.js'
import type {StoreUnderTest} from './history/database-rows.js'
import type {Call, RunEvent} from './history/history.js'
import {type Log, openLog} from './history/log.js'
import {FaultProxy} from './proxy/fault-proxy.js'
import {type DatabaseUnderTest, requireEmpty} from './server/database.js'
import {createKeyring, type Keyring} from './server/keyring.js'
import type {Launch} from './server/program.js'
import {createServers, type Servers} from './server/servers.js'

export interface TestBedOptions {
  folder: string
  random: Random
  rates: FaultRates
  limits: {leaseMs: number; maxMessages: number; maxBodyBytes: number}
  launch: Launch
  /** Undefined to run without orchestrators and workers. */
  delegation?: DelegationOptions | undefined
  /** Database of two control planes; undefined for one control plane with a file. */
  database?: DatabaseUnderTest | undefined
  onEvent?: ((event: RunEvent) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Environment of a run. The servers and the clients are not started yet. */
export interface TestBed {
  servers: Servers
  /** Undefined if no tasks are delegated. */
  peers: Peers | undefined
  proxy: FaultProxy
  log: Log
  keyring: Keyring
  /** Shared context of the clients. */
  workload: Workload
  logFile: string
  store: StoreUnderTest
  /** Files that may contain secrets. */
  secretsFiles: readonly string[]
  /** Writes the secrets of a generation for all programs. */
  writeSecrets(generation: number): Promise<void>
  note(event: RunEvent): void
  /** Number of requests sent so far. */
  operations(): number
  /** Stops the clients. They also stop if a server exits unexpectedly. */
  end(): void
}

const scope = 'prove'
/** Request timeout of clients, and maximum delay added by the proxy, ms. */
const timeoutMs = 1500
const maxDelayMs = 300

export async function setUpTestBed({
  folder,
  random,
  rates,
  limits,
  launch,
  delegation,
  database,
  onEvent,
  signal,
}: TestBedOptions): Promise<TestBed> {
  if (database !== undefined) await requireEmpty(database.url)
  const logFile = join(folder, 'calls.jsonl')
  const store = database === undefined ? {path: join(folder, 'mesh.db')} : {url: database.url}
  const keyring = createKeyring(scope)
  keyring.add()

  const log = openLog(logFile)
  const note = (event: RunEvent) => {
    log.event(event)
    onEvent?.(event)
  }
  const over = new AbortController()
  let operations = 0
  let lastId = 0
  const nextId = () => ++lastId
  const onCall = (call: Call) => {
    operations++
    log.call(call)
  }
  const servers = await createServers({
    folder,
    count: database === undefined ? 1 : 2,
    launch,
    environment: {
      ...('path' in store ? {SVC_MESH_DB_PATH: store.path} : {...postgresVariables(), SVC_MESH_STORE_URL: store.url}),
      SVC_MESH_SCOPE_ID: scope,
      SVC_MESH_A2A_LEASE_MS: String(limits.leaseMs),
      SVC_MESH_A2A_MAX_MESSAGES: String(limits.maxMessages),
      SVC_MESH_HTTP_MAX_BODY_BYTES: String(limits.maxBodyBytes),
      SVC_LOG: 'info',
    },
    onEnd: ({port}, isExpected) => {
      for (const each of [proxy, ...(peers?.all ?? []).map((peer) => peer.proxy)]) each.serverEnded(port)
      if (isExpected) return
      note({event: 'died', at: performance.now()})
      over.abort()
    },
  })
  const toServers = {target: servers.pick, rates, log, maxDelayMs}
  const proxy = await new FaultProxy({...toServers, random: random.fork('connections')}).start()
  const peers =
    delegation === undefined
      ? undefined
      : await createPeers(delegation, {
          folder,
          scope,
          random,
          proxy: toServers,
          keyring,
          timeoutMs,
          nextId,
          onCall,
          note,
        })
  const secretsFiles = [...servers.all, ...(peers?.all ?? [])].map(({secretsFile}) => secretsFile)
  const writeSecrets = async (generation: number) => {
    const text = keyring.environmentFile(generation)
    await Promise.all(servers.all.map(({secretsFile}) => writeFile(secretsFile, text, {mode: 0o600})))
    await peers?.writeTokens(generation)
  }
  await writeSecrets(keyring.current)

  const workload: Workload = {
    call: createCaller({port: proxy.port, keyring, timeoutMs, nextId, onCall}),
    shared: createSharedState(),
    leaseMs: limits.leaseMs,
    maxBodyBytes: limits.maxBodyBytes,
    scope,
    generation: () => keyring.current,
    signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
  }
  // Every client listens to this signal.
  setMaxListeners(0, workload.signal)
  return {
    servers,
    peers,
    proxy,
    log,
    keyring,
    workload,
    logFile,
    store,
    secretsFiles,
    writeSecrets,
    note,
    operations: () => operations,
    end: () => over.abort(),
  }
}

/** Variables from which PostgreSQL clients read passwords and options. */
const postgresVariables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith('PG') && value !== undefined ? [[name, value]] : [],
    ),
  )
