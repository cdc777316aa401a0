/**
 * Kills daemons for longer than a test does: `node dist/test/faults/run.js [--kills N] [--seed S]`. Prints a JSON line
 * for each kill and one for the run with all violations; if there are any, the folder is kept.
 */
import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import {killDaemon} from './orchestrator/kill-daemon.js'
import {faultsOf} from './orchestrator/oracles.js'

const {values} = parseArgs({
  options: {kills: {type: 'string', default: '100'}, seed: {type: 'string', default: '1'}},
})
const [kills, seed] = [values.kills, values.seed].map(Number) as [number, number]
const printLine = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-faults-')))
const started = performance.now()
try {
  const evidence = await killDaemon({
    kills,
    seed,
    tasks: 60 + 20 * kills,
    root,
    onKill: (kill) => printLine({event: 'kill', ...kill}),
  })
  const faults = faultsOf(evidence)
  printLine({
    event: 'end',
    seed,
    kills,
    contests: evidence.contests.length,
    tasks: evidence.tasks.length,
    attempts: evidence.journal.filter(({what}) => what === 'start').length,
    run_again: evidence.events.filter(({type}) => type === 'task_requeued').length,
    seconds: Math.round((performance.now() - started) / 1000),
    faults,
  })
  if (faults.length === 0) await rm(root, {recursive: true, force: true})
  else throw new Error(`${faults.length} faults; see ${root}.`)
} catch (error) {
  printLine({event: 'failed', seed, root, reason: (error as Error).message})
  process.exitCode = 1
}
