/**
 * Runs the test suite many times to find tests that depend on time, order or load. Each run has a random order and 0, 2
 * or 6 busy loops, and one run is bound to one core. Arguments: the number of runs, then arguments of `run.ts`. Prints
 * a line per run; a failed run leaves its output in a file. Fails if a run fails.
 */
import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {createWriteStream} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pipeline} from 'node:stream/promises'
import {fileURLToPath} from 'node:url'
import {findProgram} from './support/programs.js'

const [countText = '10', ...args] = process.argv.slice(2)
const count = Number(countText)
/** Number of busy loops of each run, repeated. */
const loads = [0, 2, 0, 2, 6]
const suite = fileURLToPath(new URL('run.js', import.meta.url))
const busyLoop = 'for (;;);'

const loops: ChildProcess[] = []
process.once('exit', () => {
  for (const loop of loops) loop.kill()
})
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))

for (let run = 0; run < count; run++) {
  const load = loads[run % loads.length] ?? 0
  const isBound = run === Math.min(2, count - 1) && findProgram('taskset') !== undefined
  for (let i = 0; i < load; i++) loops.push(spawn(process.execPath, ['-e', busyLoop], {stdio: 'ignore'}))
  const seed = Date.now() % 1_000_000
  const start = performance.now()
  const log = join(tmpdir(), `svc-stress-${process.pid}-${seed}.log`)
  const status = await runSuite(seed, isBound, log)
  for (const loop of loops.splice(0)) loop.kill()
  const where = `${load} busy loops${isBound ? ', bound to one core' : ''}, --shuffle ${seed}`
  const seconds = Math.round((performance.now() - start) / 1000)
  process.stdout.write(
    `Run ${run + 1} of ${count} (${where}): ${status === 0 ? 'passed' : `failed, see ${log}`} after ${seconds} s\n`,
  )
  if (status !== 0) process.exitCode = 1
}

async function runSuite(seed: number, isBound: boolean, log: string): Promise<number | null> {
  const command = [process.execPath, ...process.execArgv, suite, '--shuffle', String(seed), ...args]
  const [program = '', ...rest] = isBound ? ['taskset', '-c', '0', ...command] : command
  const child = spawn(program, rest, {stdio: ['ignore', 'pipe', 'inherit']})
  const [[status]] = await Promise.all([once(child, 'exit'), pipeline(child.stdout, createWriteStream(log))])
  return status as number | null
}
