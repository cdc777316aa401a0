import type {Store} from '../../../src/store/index.js'
import {submitBatch, submitTask} from '../../../src/tasks/index.js'
import {median, round} from '../measure.js'
import {withOrchestrator} from './workspace.js'

const rounds = 7
const perRound = 2000

const submission = (i: number) => ({
  description: `Put the module ${i} right and run its tests.`,
  file_manifest: [{path: `src/module-${i % 200}.ts`, access: 'write'}],
  session_id: 'bench',
})

/**
 * Accepted tasks per second with files, locks, placement and events, in one transaction each and 2,000 in one. Compared
 * with a bare insert of the same text in its own transaction, which is an upper bound.
 */
export const orchestratorSubmit = () =>
  withOrchestrator({}, async (orchestrator) => {
    const {store} = orchestrator
    store.run('CREATE TABLE bench_rows (id INTEGER PRIMARY KEY, description TEXT NOT NULL, at INTEGER NOT NULL)')
    const rates = {single: [] as number[], batch: [] as number[], bare: [] as number[]}
    const rate = (work: () => void) => {
      const started = performance.now()
      work()
      return (perRound / (performance.now() - started)) * 1000
    }
    for (let n = -1; n < rounds; n++) {
      const single = rate(() => {
        for (let i = 0; i < perRound; i++) submitTask(orchestrator, submission(i))
      })
      const batch = rate(() =>
        submitBatch(
          orchestrator,
          Array.from({length: perRound}, (_, i) => submission(i)),
        ),
      )
      const bare = rate(() => {
        for (let i = 0; i < perRound; i++) insertBare(store, submission(i).description)
      })
      if (n < 0) continue
      rates.single.push(single)
      rates.batch.push(batch)
      rates.bare.push(bare)
    }
    return {
      tasks: (rounds + 1) * perRound * 2,
      single_per_s: Math.round(median(rates.single)),
      batch_per_s: Math.round(median(rates.batch)),
      bare_insert_per_s: Math.round(median(rates.bare)),
      single_to_bare: round(median(rates.single.map((one, i) => one / (rates.bare[i] as number))), 3),
      batch_to_bare: round(median(rates.batch.map((one, i) => one / (rates.bare[i] as number))), 3),
    }
  })

const insertBare = (store: Store, description: string) =>
  store.transaction(() =>
    store.run('INSERT INTO bench_rows (description, at) VALUES (?, ?)', [description, Date.now()]),
  )
