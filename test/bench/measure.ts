import {spawnSync} from 'node:child_process'

/** Median of some durations. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** Wall time of a process, ms. */
export function timeProcess(file: string, args: readonly string[], cwd?: string): number {
  const started = performance.now()
  const {status, stderr} = spawnSync(file, args, {cwd, stdio: ['ignore', 'ignore', 'pipe']})
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} exited with ${status}: ${stderr}`)
  return performance.now() - started
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))
