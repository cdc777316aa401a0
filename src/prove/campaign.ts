import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {createClientContext, type Workload} from './clients/client-context.js'
import {drain} from './clients/drain.js'
import {type ClientKind, clients} from './clients/index.js'
import {receivers} from './clients/sender.js'
import {type DelegationOptions, receiverAgent, replyAgent} from './delegation/peers.js'
import {submitTasks} from './delegation/submitter.js'
import {type FaultRates, usualRates} from './faults/connection-faults.js'
import {createRandom, type Random} from './faults/random.js'
import {
  type DatabaseFault,
  databaseFaults,
  type PlannableFault,
  type PlannedFault,
  peerFaults,
  planFaults,
  serverFaults,
} from './faults/schedule.js'
import {withPayloads} from './history/acked-payloads.js'
import {readRows, readTexts} from './history/database-rows.js'
import type {History, RunEvent} from './history/history.js'
import {readLog} from './history/log.js'
import {readDelegated} from './history/orchestrator-rows.js'
import {scanForSecrets} from './history/secret-scan.js'
import {floodedAgent, inject} from './nemesis.js'
import {countFaults, countOutcomes, judge, type Report} from './report.js'
import type {DatabaseUnderTest} from './server/database.js'
import type {Launch} from './server/program.js'
import {setUpTestBed, type TestBed} from './test-bed.js'

/** Restricts a run to some clients and faults. */
export interface Focus {
  /** Number of clients by kind; default of each kind: 0. */
  clients?: Partial<Record<ClientKind, number>>
  faults?: readonly PlannableFault[]
  connectionFaults?: FaultRates
}

export interface ProveOptions {
  /** Seed of all random choices. */
  seed: number
  /** Minimum duration of the workload. */
  minutes: number
  /** Minimum number of requests; the run ends after three times `minutes` even if it has sent fewer. */
  operations?: number
  /** Starts a server. */
  launch: Launch
  /** Also delegates tasks between these programs. */
  delegation?: DelegationOptions
  /** Tests two control planes on this database instead of one with a file. */
  database?: DatabaseUnderTest
  focus?: Focus
  /** Duration of leases and claims, ms. */
  leaseMs?: number
  /** Keeps the folder of the run even if all invariants held. */
  isKept?: boolean
  onEvent?: (event: RunEvent) => void
  signal?: AbortSignal
}

/** Long enough that a lease outlasts a restart of a server. */
const defaultLeaseMs = 2000
const maxMessages = 200
/** Maximum difference between the times in the responses of two servers, ms. */
const replicaSkewMs = 250
const maxBodyBytes = 65_536
/** Agents that may have messages; 66 is that of the intruders. */
const agents = (orchestrators = 0): string[] => [
  ...receivers,
  floodedAgent,
  '66',
  ...(orchestrators === 0 ? [] : [receiverAgent]),
  ...Array.from({length: orchestrators}, (_, i) => replyAgent(i + 1)),
]

/**
 * Runs a campaign and judges it. The faults and the choices of the clients come from the seed, but their exact timing
 * depends on the machine.
 * @throws control_plane_silent if a server does not start; the reason of the signal
 */
export async function prove(options: ProveOptions): Promise<Report> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-prove-')))
  const started = performance.now()
  let held = false
  try {
    const history = await run(options, folder)
    const verdicts = judge(history)
    held = verdicts.every((verdict) => verdict.held)
    return {
      seed: options.seed,
      minutes: options.minutes,
      seconds: Math.round((performance.now() - started) / 100) / 10,
      operations: history.calls.length,
      answered: history.calls.filter(({status}) => status !== undefined).length,
      by_operation: countOutcomes(history),
      faults: countFaults(history),
      invariants: verdicts,
      held,
      folder: held && !options.isKept ? null : folder,
    }
  } finally {
    // Keep the evidence of violations, but not of a cancelled run, which proves nothing.
    if (options.signal?.aborted || (held && !options.isKept)) await rm(folder, {recursive: true, force: true})
  }
}

async function run(options: ProveOptions, folder: string): Promise<History> {
  const {seed, launch, delegation, database, focus = {}, leaseMs = defaultLeaseMs, onEvent, signal: stopped} = options
  const random = createRandom(seed)
  const rates = focus.connectionFaults ?? usualRates
  const limits = {leaseMs, maxMessages, maxBodyBytes}
  const testBed = await setUpTestBed({
    ...{folder, random, rates, limits, launch, delegation, database, onEvent},
    signal: stopped,
  })
  const {servers, peers, proxy, log, workload, keyring, logFile, store, writeSecrets, secretsFiles, note} = testBed
  let crowd: Promise<unknown> = Promise.resolve()
  try {
    await servers.start()
    await peers?.start()
    const submitters = (peers?.orchestrators ?? []).map((peer) => {
      const who = `submitter of ${peer.name}`
      return submitTasks(createClientContext(workload, who, random.fork(who)), peer, delegation?.durations)
    })
    crowd = Promise.all([startClients(workload, random, focus), ...submitters])
    crowd.catch(testBed.end)
    const context = createClientContext(workload, 'faults', random.fork('faults'))
    const injection = {servers, peers, database, proxy, keyring, writeSecrets, context, maxMessages}
    await injectFaults(options, testBed, random, async (planned) => note(await inject(injection, planned)))
    proxy.heal()
    testBed.end()
    await crowd
    stopped?.throwIfAborted()
    await servers.start()
    const calm = {...workload, signal: stopped ?? new AbortController().signal}
    if (peers !== undefined) note(await peers.settle(stopped))
    stopped?.throwIfAborted()
    await peers?.stop('terminate')
    note(await drain(createClientContext(calm, 'drain', random.fork('drain')), agents(peers?.orchestrators.length)))
    stopped?.throwIfAborted()
  } finally {
    testBed.end()
    const how = stopped?.aborted ? 'kill' : 'terminate'
    await peers?.stop(how)
    await servers.stop(how)
    await crowd.catch(() => undefined)
    await proxy.close()
    await log.close()
  }
  const {leaks} = await scanForSecrets(
    folder,
    keyring.secrets(),
    secretsFiles,
    'url' in store ? await readTexts(store.url) : undefined,
  )
  const clockToleranceMs = servers.all.length > 1 ? replicaSkewMs : 0
  const delegated = await readDelegated(peers?.stores ?? [], peers?.runsFile ?? '')
  const seen = await readLog(logFile)
  const rows = await readRows(store)
  const messages = withPayloads(seen, rows.messages)
  return {
    ...seen,
    rows: {...rows, messages},
    delegated,
    leaks,
    leaseMs,
    maxMessages,
    scope: workload.scope,
    clockToleranceMs,
  }
}

function startClients(workload: Workload, random: Random, focus: Focus): Promise<unknown> {
  const kinds = Object.entries(clients) as [ClientKind, (typeof clients)[ClientKind]][]
  return Promise.all(
    kinds.flatMap(([kind, {act, count}]) =>
      Array.from({length: focus.clients === undefined ? count : (focus.clients[kind] ?? 0)}, (_, i) => {
        const who = `${kind}-${i + 1}`
        return act(createClientContext(workload, who, random.fork(who)))
      }),
    ),
  )
}

/** Faults of the machine of the database need its owner. */
const isPossible = (fault: DatabaseFault, {restart, setClock, setFull}: DatabaseUnderTest): boolean =>
  ({database_disconnect: true, database_restart: restart, database_clock: setClock, database_full: setFull})[fault] !==
  undefined

/** Injects one fault at a time until the run has reached its duration and number of requests. */
async function injectFaults(
  {minutes, operations: minOperations = 0, focus = {}, delegation, database}: ProveOptions,
  {workload: {signal}, operations}: TestBed,
  random: Random,
  injectOne: (planned: PlannedFault) => Promise<void>,
): Promise<void> {
  const started = performance.now()
  const minMs = minutes * 60_000
  const all = [
    ...serverFaults,
    ...(delegation === undefined ? [] : peerFaults),
    ...(database === undefined ? [] : databaseFaults.filter((fault) => isPossible(fault, database))),
  ]
  const plan = planFaults(random.fork('plan'), focus.faults ?? all)
  const isEnough = () => {
    const ms = performance.now() - started
    return signal.aborted || (ms >= minMs && (operations() >= minOperations || ms >= 3 * minMs))
  }
  const wait = (ms: number) => sleep(ms, undefined, {signal}).catch(() => undefined)
  while (!isEnough()) {
    const {value: planned} = plan.next()
    if (planned === undefined) await wait(100)
    else {
      await wait(Math.min(planned.afterMs, Math.max(0, started + minMs - performance.now()) + 100))
      if (!isEnough()) await injectOne(planned)
    }
  }
}
