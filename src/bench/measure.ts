import {spawnSync} from 'node:child_process'
import {setImmediate} from 'node:timers/promises'

/** Median of some durations. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** Median of the ratios of two durations of the same round, so that changes in the speed of the machine cancel out. */
export const medianRatio = (times: readonly number[], bases: readonly number[]): number =>
  median(times.map((time, i) => time / (bases[i] as number)))

/**
 * Wall time of a process, ms.
 * @throws the abort reason of the signal, if it was aborted meanwhile
 */
export async function timeProcess(
  file: string,
  args: readonly string[],
  {signal, ...options}: {cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal},
): Promise<number> {
  const started = performance.now()
  const {status, stderr} = spawnSync(file, args, {...options, stdio: ['ignore', 'ignore', 'pipe']})
  const taken = performance.now() - started
  if (status === 0) return taken
  // Ctrl-C on a terminal also stops the process; the signal is aborted when this process handles its own SIGINT.
  await setImmediate()
  signal.throwIfAborted()
  throw new Error(`${file} ${args.join(' ')} exited with ${status}: ${stderr}`)
}

/** Wall time of a function, ms. */
export function time(run: () => unknown): number {
  const started = performance.now()
  run()
  return performance.now() - started
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))

/**
 * The numbers of the rounds of a benchmark, from 0; warm-up rounds have negative numbers. Between two rounds, the process
 * handles its signals.
 * @throws the abort reason of the signal
 */
export async function* rounds(count: number, {warmUps, signal}: {warmUps: number; signal: AbortSignal}) {
  for (let i = -warmUps; i < count; i++) {
    await setImmediate()
    signal.throwIfAborted()
    yield i
  }
}
