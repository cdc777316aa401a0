import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {createClientContext, type Workload} from './clients/client-context.js'
import {drain} from './clients/drain.js'
import {type ClientKind, clients} from './clients/index.js'
import {receivers} from './clients/sender.js'
import {type FaultRates, usualRates} from './faults/connection-faults.js'
import {createRandom, type Random} from './faults/random.js'
import {type PlannedFault, planFaults, type ServerFault} from './faults/schedule.js'
import {withPayloads} from './history/acked-payloads.js'
import {readRows} from './history/database-rows.js'
import type {History, RunEvent} from './history/history.js'
import {readLog} from './history/log.js'
import {scanForSecrets} from './history/secret-scan.js'
import {floodedAgent, inject} from './nemesis.js'
import {countFaults, countOutcomes, judge, type Report} from './report.js'
import type {Launch} from './server/server.js'
import {setUpTestBed, type TestBed} from './test-bed.js'

/** What a run is about, where it is not about everything. */
export interface Focus {
  /** How many there are of a kind of client; none of those that are left out. */
  clients?: Partial<Record<ClientKind, number>>
  serverFaults?: readonly ServerFault[]
  connectionFaults?: FaultRates
}

export interface ProveOptions {
  /** Everything that is drawn at random is drawn from it. */
  seed: number
  /** How long clients and faults go on, at least. */
  minutes: number
  /** How many requests are sent, at least; a run that does not come to as many ends after three times its minutes. */
  operations?: number
  /** How a server is started. */
  launch: Launch
  focus?: Focus
  /** How long a lease or a claim holds, ms. */
  leaseMs?: number
  /** The folder of the run stays there, also where everything held. */
  isKept?: boolean
  onEvent?: (event: RunEvent) => void
  signal?: AbortSignal
}

/** How the server of a run is set up; a lease outlasts a restart. */
const usualLeaseMs = 2000
const maxMessages = 200
const maxBodyBytes = 65_536
/** Agents that somebody may have written to; the last is that of the intruders. */
const agents = [...receivers, floodedAgent, '66']

/**
 * Makes a run and its judgement. The faults and the choices of the clients come from the seed; when exactly they meet is
 * up to the machine.
 * @throws control_plane_silent where the server does not start; the reason of the signal
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
    // What did not hold can be looked into; a run that was broken off shows nothing.
    if (options.signal?.aborted || (held && !options.isKept)) await rm(folder, {recursive: true, force: true})
  }
}

async function run(options: ProveOptions, folder: string): Promise<History> {
  const {seed, launch, focus = {}, leaseMs = usualLeaseMs, onEvent, signal: stopped} = options
  const random = createRandom(seed)
  const rates = focus.connectionFaults ?? usualRates
  const limits = {leaseMs, maxMessages, maxBodyBytes}
  const testBed = await setUpTestBed({folder, random, rates, limits, launch, onEvent, signal: stopped})
  const {server, proxy, log, workload, keyring, paths, note} = testBed
  let crowd: Promise<unknown> = Promise.resolve()
  try {
    await server.start()
    crowd = startClients(workload, random, focus)
    crowd.catch(testBed.end)
    const context = createClientContext(workload, 'faults', random.fork('faults'))
    const injection = {server, proxy, keyring, secretsFile: paths.secrets, context, maxMessages}
    await injectFaults(options, testBed, random, async (planned) => note(await inject(injection, planned)))
    proxy.heal()
    testBed.end()
    await crowd
    stopped?.throwIfAborted()
    if (!server.isRunning) await server.start()
    const calm = {...workload, signal: stopped ?? new AbortController().signal}
    note(await drain(createClientContext(calm, 'drain', random.fork('drain')), agents))
    stopped?.throwIfAborted()
  } finally {
    testBed.end()
    await (stopped?.aborted ? server.kill() : server.terminate())
    await crowd.catch(() => undefined)
    await proxy.close()
    await log.close()
  }
  const {leaks} = await scanForSecrets(folder, keyring.secrets(), [paths.secrets])
  const seen = await readLog(paths.log)
  const rows = await readRows(paths.database)
  const messages = withPayloads(seen, rows.messages)
  return {...seen, rows: {...rows, messages}, leaks, leaseMs, maxMessages, scope: workload.scope}
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

/** Makes one fault after the other until the run has lasted long enough and has had enough requests. */
async function injectFaults(
  {minutes, operations: fewest = 0, focus = {}}: ProveOptions,
  {workload: {signal}, operations}: TestBed,
  random: Random,
  make: (planned: PlannedFault) => Promise<void>,
): Promise<void> {
  const started = performance.now()
  const leastMs = minutes * 60_000
  const plan = planFaults(random.fork('plan'), focus.serverFaults)
  const isEnough = () => {
    const ms = performance.now() - started
    return signal.aborted || (ms >= leastMs && (operations() >= fewest || ms >= 3 * leastMs))
  }
  const wait = (ms: number) => sleep(ms, undefined, {signal}).catch(() => undefined)
  while (!isEnough()) {
    const {value: planned} = plan.next()
    if (planned === undefined) await wait(100)
    else {
      await wait(Math.min(planned.afterMs, Math.max(0, started + leastMs - performance.now()) + 100))
      if (!isEnough()) await make(planned)
    }
  }
}
