import {once, setMaxListeners} from 'node:events'
import {mkdir, writeFile} from 'node:fs/promises'
import {type AddressInfo, createServer as createSocketServer} from 'node:net'
import {join} from 'node:path'
import {createCaller} from './clients/caller.js'
import type {Workload} from './clients/client-context.js'
import {createSharedState} from './clients/shared-state.js'
import {createPeers, type DelegationOptions, type Peers} from './delegation/peers.js'
import type {FaultRates} from './faults/connection-faults.js'
import type {Random} from './faults/random.js'
import type {Call, RunEvent} from './history/history.js'
import {type Log, openLog} from './history/log.js'
import {FaultProxy} from './proxy/fault-proxy.js'
import {isHealthy} from './server/health.js'
import {createKeyring, type Keyring} from './server/keyring.js'
import {createProgram, type Launch, type Program} from './server/program.js'

export interface TestBedOptions {
  folder: string
  random: Random
  rates: FaultRates
  limits: {leaseMs: number; maxMessages: number; maxBodyBytes: number}
  launch: Launch
  /** Undefined to run without orchestrators and workers. */
  delegation?: DelegationOptions | undefined
  onEvent?: ((event: RunEvent) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Environment of a run. The server and the clients are not started yet. */
export interface TestBed {
  server: Program
  /** Undefined if no tasks are delegated. */
  peers: Peers | undefined
  proxy: FaultProxy
  log: Log
  keyring: Keyring
  /** Shared context of the clients. */
  workload: Workload
  paths: {log: string; database: string; secrets: string}
  note(event: RunEvent): void
  /** Number of requests sent so far. */
  operations(): number
  /** Stops the clients. They also stop if the server exits unexpectedly. */
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
  onEvent,
  signal,
}: TestBedOptions): Promise<TestBed> {
  const home = join(folder, 'home')
  const paths = {
    log: join(folder, 'calls.jsonl'),
    database: join(folder, 'mesh.db'),
    secrets: join(home, '.svc', 'mesh', 'mesh.env'),
  }
  await mkdir(join(home, '.svc', 'mesh'), {recursive: true})
  const keyring = createKeyring(scope)
  await writeFile(paths.secrets, keyring.environmentFile(keyring.add()), {mode: 0o600})

  const log = openLog(paths.log)
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
  const port = await freePort()
  const toServer = {target: port, rates, log, maxDelayMs}
  const proxy = await new FaultProxy({...toServer, random: random.fork('connections')}).start()
  const peers =
    delegation === undefined
      ? undefined
      : await createPeers(delegation, {
          folder,
          scope,
          keyring,
          random,
          proxy: toServer,
          timeoutMs,
          nextId,
          onCall,
          note,
        })
  const server = createProgram({
    folder: home,
    environment: {
      SVC_MESH_HOST: '127.0.0.1',
      SVC_MESH_PORT: String(port),
      SVC_MESH_DB_PATH: paths.database,
      SVC_MESH_SCOPE_ID: scope,
      SVC_MESH_A2A_LEASE_MS: String(limits.leaseMs),
      SVC_MESH_A2A_MAX_MESSAGES: String(limits.maxMessages),
      SVC_MESH_HTTP_MAX_BODY_BYTES: String(limits.maxBodyBytes),
      SVC_LOG: 'info',
    },
    launch,
    isReady: () => isHealthy(port),
    onEnd: ({isExpected}) => {
      for (const each of [proxy, ...(peers?.all ?? []).map((peer) => peer.proxy)]) each.serverEnded()
      if (isExpected) return
      note({event: 'died', at: performance.now()})
      over.abort()
    },
  })

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
    server,
    peers,
    proxy,
    log,
    keyring,
    workload,
    paths,
    note,
    operations: () => operations,
    end: () => over.abort(),
  }
}

/** Finds a free port. A restarted server must listen on the same port, so it cannot be 0. */
async function freePort(): Promise<number> {
  const holder = createSocketServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const {port} = holder.address() as AddressInfo
  await new Promise((resolve) => holder.close(resolve))
  return port
}
