import {readdirSync, readFileSync} from 'node:fs'
import {isRunning} from './running.js'

/** True if a process is running and has the recorded start time, so that it is not another one with a reused pid. */
export function isAlive(pid: number, start: string): boolean {
  // Pids of 0 and below address process groups.
  if (pid <= 0 || !isRunning(pid)) return false
  const found = readStat(pid)
  if (found === undefined) return true
  // A zombie has exited but keeps its pid until its parent waits for it.
  return found.state !== 'Z' && (start === '' || found.start === start)
}

/**
 * Start time of a process in clock ticks since boot. Together with the pid, which may be reused, it identifies the
 * process. Undefined if the process does not exist, or the system has no `/proc`.
 */
export const processStart = (pid: number): string | undefined => readStat(pid)?.start

/** Finds processes by a variable in their initial environment, as far as it is readable. */
export function processesWith(variable: string, value: string): number[] {
  const entry = Buffer.from(`${variable}=${value}\0`)
  const has = (pid: number) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`)
      const at = environment.indexOf(entry)
      return at === 0 || (at > 0 && environment[at - 1] === 0)
    } catch {
      return false
    }
  }
  return processes().filter(has)
}

/** Kills a process, or with a negative pid its group; no effect if it has ended. */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

/** Pids of the other processes; empty if the system has no `/proc`. */
export function processes(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isSafeInteger(pid) && pid > 0 && pid !== process.pid)
  } catch {
    return []
  }
}

function readStat(pid: number): {state: string; start: string} | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name, which may contain anything, ends at the last bracket. These are fields 3 and 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {state: fields[0] ?? '', start: fields[19] ?? ''}
  } catch {
    return undefined
  }
}
