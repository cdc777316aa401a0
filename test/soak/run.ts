/**
 * Uses the servers with random clients for a long time: `node dist/test/soak/run.js --minutes N [--seed S]`. Prints one
 * JSON object with the figures of each server, and a sentence on standard error for each check that failed. With
 * `--samples FILE` it also writes every sample of memory and handles, as JSON lines.
 */
import {setMaxListeners} from 'node:events'
import {mkdir, mkdtemp, realpath, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {parseArgs} from 'node:util'
import {type Random, seeded} from '../support/random.js'
import {type Figures, faultsOf, figuresOf, growthLimit} from './checks.js'
import {type Service, Tally} from './client.js'
import {daemonService} from './clients/daemon.js'
import {dbService} from './clients/db.js'
import {meshService} from './clients/mesh.js'
import {serveService} from './clients/serve.js'
import {ServerProcess} from './server-process.js'

const services: readonly Service[] = [serveService, daemonService, meshService, dbService]

/** Maximum warm-up, ms, for filling caches and compiling code; half of a short run. */
const maxWarmUpMs = 120_000
/** Time without clients for closing connections, then for taking samples, ms. */
const settleMs = 3000
const idleMs = 4000
/** Maximum pause of a client between two steps, ms. */
const maxPauseMs = 50
/** Time after the return of clients during which samples are ignored, ms. */
const resumeMs = 2000

const {values} = parseArgs({
  options: {minutes: {type: 'string', default: '5'}, seed: {type: 'string'}, samples: {type: 'string'}},
})
const minutes = Number(values.minutes)
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.seed)
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write('Usage: npm run soak -- --minutes N [--seed INTEGER] [--samples FILE]\n')
  process.exit(2)
}

const interrupt = new AbortController()
// Every pausing client listens to this signal.
setMaxListeners(0, interrupt.signal)
const onSignal = () => interrupt.abort()
process.once('SIGINT', onSignal).once('SIGTERM', onSignal)

/** Running server. */
interface Target {
  service: Service
  process: ServerProcess
  address: string
  tally: Tally
}

async function start(root: string, service: Service): Promise<Target> {
  const folder = join(root, service.name.replaceAll(' ', '-'))
  await mkdir(folder)
  const args = await service.prepare(folder)
  const server = await ServerProcess.start([...args, '--json', '--quiet'], folder)
  return {service, process: server, address: String(server.ready[service.address]), tally: new Tally()}
}

/** Waits; resolves early on an interrupt. */
const pause = (ms: number) => sleep(ms, undefined, {signal: interrupt.signal}).catch(() => undefined)

/**
 * Runs the clients of all servers until a time. Each client has its own random source, so that its actions depend only on
 * the seed.
 */
async function use(targets: readonly Target[], phase: number, untilMs: number): Promise<void> {
  await Promise.all(
    targets.flatMap((target, at) =>
      Array.from({length: target.service.clients}, (_, index) =>
        useOne(target, index, seeded(seed + 10_000 * phase + 100 * at + index), untilMs),
      ),
    ),
  )
}

async function useOne(
  {service, process: server, address, tally}: Target,
  index: number,
  random: Random,
  untilMs: number,
): Promise<void> {
  const isOver = () => performance.now() >= untilMs || interrupt.signal.aborted || !server.isRunning
  try {
    const client = await service.connect({address, index, random, tally})
    while (!isOver()) {
      await client.step()
      await pause(random.below(maxPauseMs))
    }
    await client.close()
  } catch (error) {
    tally.fault((error as Error).stack ?? String(error))
  }
}

/** Pauses all clients. @returns interval of the samples of idle servers */
async function rest(targets: readonly Target[]): Promise<[fromMs: number, toMs: number]> {
  const random = seeded(seed)
  await Promise.all(targets.map(({service, address, tally}) => service.settle?.({address, index: 0, random, tally})))
  await pause(settleMs)
  const fromMs = performance.now()
  await pause(idleMs)
  return [fromMs, performance.now()]
}

const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-soak-')))
const targets: Target[] = []
let status = 1
try {
  for (const service of services) if (!interrupt.signal.aborted) targets.push(await start(root, service))
  const startedMs = performance.now()
  const warmUpMs = Math.min(maxWarmUpMs, minutes * 30_000)
  await use(targets, 0, startedMs + warmUpMs)
  const before = await rest(targets)
  const resumedMs = performance.now()
  await use(targets, 1, resumedMs + minutes * 60_000 - warmUpMs)
  const loadEndMs = performance.now()
  const after = await rest(targets)
  const evidence = await Promise.all(
    targets.map(async ({service: {name: server}, process: {log, errors}, process: running, tally}) => ({
      server,
      ...tally,
      errors,
      exit: await running.stop(),
      load: log.between(resumedMs + resumeMs, loadEndMs),
      idle: [log.between(...before), log.between(...after)] as const,
    })),
  )
  if (values.samples !== undefined) {
    const lines = targets.flatMap(({service: {name: server}, process: {log}}) =>
      log.samples.map(
        (sample) => `${JSON.stringify({server, ...sample, atMs: Math.round(sample.atMs - startedMs)})}\n`,
      ),
    )
    await writeFile(values.samples, lines.join(''))
  }
  const figures = evidence.map(figuresOf)
  const limit = growthLimit(loadEndMs - resumedMs - resumeMs)
  const isComplete = !interrupt.signal.aborted
  const faults = isComplete ? evidence.flatMap((one, i) => faultsOf(one, figures[i] as Figures, limit)) : []
  const result = {
    seed,
    minutes,
    node: process.version,
    ...(isComplete ? {} : {interrupted: true}),
    growth_measured_from_s: Math.round((resumedMs + resumeMs - startedMs) / 1000),
    growth_measured_to_s: Math.round((loadEndMs - startedMs) / 1000),
    growth_limit_mb_per_min: limit,
    servers: figures,
    failed_checks: faults.length,
  }
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  status = isComplete ? Math.min(faults.length, 1) : 130
} catch (error) {
  process.stderr.write(`The soak test broke off: ${(error as Error).stack}\n`)
} finally {
  await Promise.all(targets.map(({process: server}) => server.stop()))
  await rm(root, {recursive: true, force: true})
}
process.exit(status)
