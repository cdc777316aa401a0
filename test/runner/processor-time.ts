import {existsSync, readdirSync, readFileSync} from 'node:fs'

interface Times {
  parent: number
  /** Processor time of the process, and of its children that have ended, s. */
  seconds: number
}

/**
 * Processor time of this process and of all processes that it has started, s; undefined on systems without `/proc`. A process
 * counts as long as it runs, and once it has ended if its parent waited for it.
 */
export function processorTime(): number | undefined {
  if (!existsSync('/proc/self/stat')) return undefined
  const children = new Map<number, number[]>()
  const times = new Map<number, Times>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const found = timesOf(pid)
    if (found === undefined) continue
    times.set(pid, found)
    children.set(found.parent, [...(children.get(found.parent) ?? []), pid])
  }
  const sum = (pid: number): number =>
    (children.get(pid) ?? []).reduce((total, child) => total + sum(child), times.get(pid)?.seconds ?? 0)
  return sum(process.pid)
}

/** Processor time of one process, and of its children that have ended, s; undefined without `/proc`. */
export const processorTimeOf = (pid: number): number | undefined => timesOf(pid)?.seconds

/** The fields of `/proc/PID/stat` (proc(5)); the second one may contain blanks, and times are in ticks of 10 ms. */
function timesOf(pid: number): Times | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {parent: Number(fields[1]), seconds: fields.slice(11, 15).reduce((sum, each) => sum + Number(each) / 100, 0)}
  } catch {
    // The process has ended.
    return undefined
  }
}
