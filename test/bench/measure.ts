import {spawnSync} from 'node:child_process'

/** Median of some durations. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** Wall time of a whole process, ms. */
export function timeProcess(file: string, args: readonly string[]): number {
  const started = performance.now()
  const {status, stderr} = spawnSync(file, args, {stdio: ['ignore', 'ignore', 'pipe']})
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - started
}

/** Two commands in turn, so that a machine whose speed drifts treats both alike: the medians and their ratio. */
export function compareProcesses(a: readonly [string, ...string[]], b: readonly [string, ...string[]], rounds: number) {
  const times = {a: [] as number[], b: [] as number[]}
  for (let round = -1; round < rounds; round++) {
    const [timeA, timeB] = [timeProcess(a[0], a.slice(1)), timeProcess(b[0], b.slice(1))]
    if (round === -1) continue
    times.a.push(timeA)
    times.b.push(timeB)
  }
  const ratios = times.a.map((time, i) => time / (times.b[i] as number))
  return {a_ms: round(median(times.a)), b_ms: round(median(times.b)), ratio: round(median(ratios), 3)}
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))
