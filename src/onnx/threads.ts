import {readFileSync} from 'node:fs'
import {availableParallelism, cpus} from 'node:os'

/**
 * Number of physical cores that this process may use. Two hardware threads of a core share its arithmetic units, so
 * using both is not faster. If the topology is unknown, every logical processor counts as a core.
 */
export function physicalCores(): number {
  const siblings = new Set(cpus().map((_, i) => siblingsOf(i) ?? `${i}`))
  return Math.max(1, Math.min(availableParallelism(), siblings.size))
}

/** The logical processors on the same core, as Linux lists them: `0,4` or `0-1`. */
function siblingsOf(processor: number): string | undefined {
  try {
    return readFileSync(`/sys/devices/system/cpu/cpu${processor}/topology/thread_siblings_list`, 'utf8').trim()
  } catch {
    return undefined
  }
}
