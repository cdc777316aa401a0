import type {Store} from '../store/index.js'
import {submitBatch, submitTask} from '../tasks/index.js'
import type {Benchmark, Result} from './benchmark.js'
import {median, medianRatio, round, rounds, time} from './measure.js'
import {withOrchestrator} from './temporary.js'

const submission = (i: number) => ({
  description: `Fix module ${i} and run its tests.`,
  file_manifest: [{path: `src/module-${i % 200}.ts`, access: 'write'}],
  session_id: 'bench',
})

/** The base is an upper bound: a task also has files, locks, an agent and events. */
export const orchestratorSubmit: Benchmark = {
  name: 'orchestrator-submit',
  measures: 'Time to submit a task that writes a file, one at a time and in a batch of 2,000.',
  base: 'inserting a row with the same text in a transaction',
  run: (signal) => measureSubmissions(signal),
}

export const measureSubmissions = (
  signal: AbortSignal,
  {count = 7, perRound = 2000}: {count?: number; perRound?: number} = {},
): Promise<Result> =>
  withOrchestrator({}, async (orchestrator) => {
    const {store} = orchestrator
    store.run('CREATE TABLE bench_rows (id INTEGER PRIMARY KEY, description TEXT NOT NULL, at INTEGER NOT NULL)')
    const times = {single: [] as number[], batch: [] as number[], bare: [] as number[]}
    for await (const i of rounds(count, {warmUps: 1, signal})) {
      const taken = {
        single: time(() => {
          for (let n = 0; n < perRound; n++) submitTask(orchestrator, submission(n))
        }),
        batch: time(() =>
          submitBatch(
            orchestrator,
            Array.from({length: perRound}, (_, n) => submission(n)),
          ),
        ),
        bare: time(() => {
          for (let n = 0; n < perRound; n++) insertBare(store, submission(n).description)
        }),
      }
      if (i < 0) continue
      times.single.push(taken.single)
      times.batch.push(taken.batch)
      times.bare.push(taken.bare)
    }
    const perSecond = (all: readonly number[]) => Math.round((perRound / median(all)) * 1000)
    return {
      ratio: round(medianRatio(times.single, times.bare), 2),
      figures: {
        tasks: (count + 1) * perRound * 2,
        single_per_s: perSecond(times.single),
        batch_per_s: perSecond(times.batch),
        bare_insert_per_s: perSecond(times.bare),
        batch_ratio: round(medianRatio(times.batch, times.bare), 2),
      },
    }
  })

const insertBare = (store: Store, description: string) =>
  store.transaction(() =>
    store.run('INSERT INTO bench_rows (description, at) VALUES (?, ?)', [description, Date.now()]),
  )
