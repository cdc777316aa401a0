import {readdirSync, readFileSync} from 'node:fs'
import {isRunning} from './running.js'

/** Whether a process is there and is the one that it was when its start was recorded. */
export function isAlive(pid: number, start: string): boolean {
  // Zero and below mean groups of processes.
  if (pid <= 0 || !isRunning(pid)) return false
  const found = readStat(pid)
  if (found === undefined) return true
  // One that has ended and that nobody has asked about yet keeps its id, and nothing else.
  return found.state !== 'Z' && (start === '' || found.start === start)
}

/**
 * When a process started, in ticks since the machine did: with the pid, which is given out again, it says which process
 * is meant. Undefined where there is no such process, or the system does not tell it this way.
 */
export const processStart = (pid: number): string | undefined => readStat(pid)?.start

/** Processes that were started with a variable of this value in their environment, and whose environment can be read. */
export function processesWith(variable: string, value: string): number[] {
  const wanted = Buffer.from(`${variable}=${value}\0`)
  const has = (pid: number) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`)
      const at = environment.indexOf(wanted)
      return at === 0 || (at > 0 && environment[at - 1] === 0)
    } catch {
      return false
    }
  }
  return processes().filter(has)
}

function processes(): number[] {
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
    // The name of the program, which may hold anything, ends with the last bracket; these are the 3rd and 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {state: fields[0] ?? '', start: fields[19] ?? ''}
  } catch {
    return undefined
  }
}
