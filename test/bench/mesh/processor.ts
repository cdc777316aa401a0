import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

/**
 * Processor time of all threads of a process, ms, which is independent of other load on the machine. Only on Linux,
 * with the resolution of the scheduler, some ms.
 */
export function processorMs(pid: number): number {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks).reduce((sum, thread) => sum + threadMs(join(tasks, thread)), 0)
  } catch {
    return Number.NaN
  }
}

/** The same for the thread of the event loop. */
export function mainThreadMs(pid = process.pid): number {
  try {
    return threadMs(`/proc/${pid}/task/${pid}`)
  } catch {
    return Number.NaN
  }
}

/** Clock ticks per second of times in `/proc`, which Linux fixes for all programs. */
const ticksPerSecond = 100

/** Processor time of the child processes that have ended, ms. */
export function endedChildrenMs(pid: number): number {
  // The second field, the name of the program, can contain blanks; the 16th and 17th are the times.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / ticksPerSecond
}

/** The first of three numbers is the time on a processor, ns. */
const threadMs = (task: string) => Number(readFileSync(join(task, 'schedstat'), 'utf8').split(' ')[0]) / 1e6
