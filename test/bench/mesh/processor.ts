import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

/**
 * Processor time that all threads of a process have had, ms: what it takes to do something, however many others want the
 * processors too. Known on Linux alone, and there as of the last tick of the scheduler, some ms ago.
 */
export function processorMs(pid: number): number {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks).reduce((sum, thread) => sum + threadMs(join(tasks, thread)), 0)
  } catch {
    return Number.NaN
  }
}

/** The same of the thread that runs the event loop. */
export function mainThreadMs(pid = process.pid): number {
  try {
    return threadMs(`/proc/${pid}/task/${pid}`)
  } catch {
    return Number.NaN
  }
}

/** The first of three numbers is nanoseconds on a processor. */
const threadMs = (task: string) => Number(readFileSync(join(task, 'schedstat'), 'utf8').split(' ')[0]) / 1e6
