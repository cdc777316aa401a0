import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {median} from '../../src/bench/measure.js'
import {type Orchestrator, openOrchestrator} from '../../src/orchestrator/index.js'
import {openDatabase} from '../../src/store/index.js'
import {listMetrics} from '../../src/telemetry/index.js'
import {createRun, resumeRun, startRun, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {sendSignal} from '../../src/workflow/index.js'
import {plainPorts, workflow} from '../workflow/support.js'

const activities = 1000
const waiting = 10_000
const rounds = 5

/**
 * Cost of durable workflows. `sequential`: activities per second without effects, compared with inserts into one table
 * in transactions of their own with the same durability, in turn. `waiting`: memory and processor time of a runner with
 * runs that wait for a signal. `resume`: continuing a run with a journal of 10,000 rows compared with reading the rows.
 */
export async function workflows() {
  return {sequential: await sequential(), waiting: await waitingRuns(), resume: await resumed()}
}

async function inWorkspace<T>(work: (context: Orchestrator) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const context = await openOrchestrator({root, sources: {env: {}}})
  try {
    return await work(context)
  } finally {
    context.close()
    await rm(root, {recursive: true})
  }
}

const {signal} = new AbortController()
const options = {ports: plainPorts, signal, stays: false}

const sequence = (count: number) =>
  workflow(`steps: [${Array.from({length: count}, (_, i) => `{id: s${i}, value: ${i}}`).join(', ')}]`)

const sequential = () =>
  inWorkspace(async (context) => {
    const database = await openDatabase(join(context.root, 'inserts.db'))
    database.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL) STRICT')
    const insert = database.prepare('INSERT INTO rows (name, at) VALUES (?, ?)')
    const flow = sequence(activities)
    const ratios: number[] = []
    const times: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const insertsMs = elapsed(() => {
        for (let i = 0; i < activities; i++) insert.run(`row ${i}`, i)
      })
      const startedMs = performance.now()
      await startRun(context, flow, {input: {}}, options).done
      const runMs = performance.now() - startedMs
      if (round === 0) continue
      ratios.push(insertsMs / runMs)
      times.push(runMs)
    }
    database.close()
    return {activities, run_ms: median(times), speed_of_bare_inserts: median(ratios), target: 0.12}
  })

function elapsed(work: () => void): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}

const waitingRuns = () =>
  inWorkspace(async (context) => {
    const flow = workflow('steps: [{id: s, signal: go}]')
    const ids: string[] = []
    for (let i = 0; i < waiting; i++) ids.push(createRun(context, flow, {input: {}}).run_id)
    const empty = startWorkflowRunner(context, {ports: plainPorts})
    // Each run is started once, and then waits in no process.
    const open = () =>
      context.store.get<{count: number}>("SELECT count(*) AS count FROM workflow_run_log WHERE status = 'running'")
        ?.count
    while ((open() ?? 0) > 0) {
      empty.wake()
      await sleep(1)
    }
    await empty.stop()
    global.gc?.()
    const before = process.memoryUsage().rss
    const runner = startWorkflowRunner(context, {ports: plainPorts})
    const cpuBefore = process.cpuUsage()
    const idleMs = 10_000
    await sleep(idleMs)
    const {user, system} = process.cpuUsage(cpuBefore)
    const rss = process.memoryUsage().rss - before
    sendSignal(context, {run: ids[0] ?? '', key: 'go'})
    const startedMs = performance.now()
    runner.wake()
    while (context.store.get("SELECT 1 FROM workflow_run_log WHERE status = 'completed'") === undefined) await sleep(1)
    const wakeMs = performance.now() - startedMs
    await runner.stop()
    return {
      runs: waiting,
      added_rss_mb: rss / 1e6,
      cpu_percent: (user + system) / 10 / idleMs,
      wake_ms: wakeMs,
      target: {added_rss_mb: 20},
    }
  })

const resumed = () =>
  inWorkspace(async (context) => {
    const ratios: number[] = []
    const reads: number[] = []
    for (let round = 0; round <= rounds; round++) {
      // Four entries for each activity.
      const steps = Array.from({length: 2500}, (_, i) => `{id: s${i}, value: ${i}}`)
      const flow = workflow(`steps: [${steps.join(', ')}, {id: stop, signal: go}]`)
      const {run_id} = await startRun(context, flow, {input: {}}, options).done
      let readMs = performance.now()
      const rows = listMetrics(context.store, {type: 'workflow_journal_entry', limit: 10_000})
      for (const {metadata_json: json} of rows) JSON.parse(json ?? '')
      readMs = performance.now() - readMs
      sendSignal(context, {run: run_id, key: 'go'})
      const startedMs = performance.now()
      await (await resumeRun(context, run_id, options)).done
      const resumeMs = performance.now() - startedMs
      context.store.run('DELETE FROM research_metrics')
      if (round === 0) continue
      ratios.push(resumeMs / readMs)
      reads.push(readMs)
    }
    return {journal_rows: 10_000, read_ms: median(reads), resume_to_read: median(ratios), target: 2}
  })
