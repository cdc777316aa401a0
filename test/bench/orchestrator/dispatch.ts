import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {setTimeout as sleep} from 'node:timers/promises'
import {median, round} from '../../../src/bench/measure.js'
import {withOrchestrator} from '../../../src/bench/temporary.js'
import {type Orchestrator, spawnAgent} from '../../../src/orchestrator/index.js'
import {type DaemonOptions, type Processor, runDaemon} from '../../../src/scheduler/index.js'
import {submitBatch} from '../../../src/tasks/index.js'
import {projectFile} from '../../support/project.js'

const waiting = 20_000
const samples = 200
/** Duration of the measurement of an idle daemon, ms. */
const idleMs = 2000

/**
 * Time from the submission of a task by another process to the start of its run by an idle agent, ms, while 20,000
 * tasks wait for a busy agent. Also the CPU time of the daemon while nothing happens, % of one core. `polled` is the
 * same daemon without file events.
 */
export async function orchestratorDispatch() {
  const watched = await measure({})
  const polled = await measure({watchesStore: false})
  return {waiting, samples, ...watched, polled, p50_to_polled: round(watched.p50_ms / polled.p50_ms, 3)}
}

const measure = (options: Partial<DaemonOptions>) =>
  withOrchestrator({SVC_ORCHESTRATOR_MIN_AGENTS: '1'}, async (orchestrator) => {
    spawnAgent(orchestrator, {name: 'busy'})
    spawnAgent(orchestrator, {name: 'idle'})
    const tasks = Array.from({length: waiting + 1}, (_, i) => ({description: `task ${i}`, target_agent: 'busy'}))
    submitBatch(orchestrator, tasks)
    return withDaemon(orchestrator, options, async (started) => {
      await sleep(idleMs)
      const before = process.cpuUsage()
      await sleep(idleMs)
      const {user, system} = process.cpuUsage(before)
      const latencies = (await dispatch(orchestrator.root, started)).sort((a, b) => a - b)
      return {
        p50_ms: round(median(latencies)),
        p99_ms: round(latencies[Math.ceil(samples * 0.99) - 1] as number),
        max_ms: round(latencies.at(-1) as number),
        idle_cpu_percent: round((user + system) / idleMs / 10, 2),
      }
    })
  })

/** Latencies of tasks that another process submits one after the other, ms. */
async function dispatch(root: string, started: () => Promise<number>): Promise<number[]> {
  const program = projectFile('dist/test/bench/orchestrator/submit-one.js')
  const child = spawn(process.execPath, [program, root], {stdio: ['pipe', 'pipe', 'inherit']})
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]()
  const latencies: number[] = []
  for (let i = -10; i < samples; i++) {
    const run = started()
    child.stdin.write('idle\n')
    const {value: submitted} = await lines.next()
    const latency = (await run) - Number(submitted)
    if (i >= 0) latencies.push(latency)
    // Spreads the submissions over the intervals of the daemon.
    await sleep(20 + 7 * (i & 7))
  }
  child.stdin.end()
  await once(child, 'exit')
  return latencies
}

/** Runs the daemon loop in this process. `started` resolves to the time of the next start of a measured task, Unix ms. */
async function withDaemon<T>(
  orchestrator: Orchestrator,
  options: Partial<DaemonOptions>,
  use: (started: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  let onStart: (at: number) => void = () => undefined
  const processor: Processor = {
    async run({description}, _, signal) {
      if (description !== 'measured') await once(signal, 'abort')
      onStart(performance.timeOrigin + performance.now())
      return {text: '', details: {}}
    },
  }
  const daemon = runDaemon(orchestrator, {
    processors: {ai: processor, exec: processor},
    signal: stop.signal,
    drainMs: 0,
    ...options,
  })
  try {
    return await use(
      () =>
        new Promise((resolve) => {
          onStart = resolve
        }),
    )
  } finally {
    stop.abort()
    await daemon
  }
}
