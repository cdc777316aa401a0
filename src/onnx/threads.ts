import {readFileSync} from 'node:fs'
import {availableParallelism, cpus} from 'node:os'

/**
 * Physical cores that this process may use. The hardware threads of one core share its arithmetic units, so computing
 * on both is no faster. Where the topology is not known, every processor counts as a core.
 */
export function physicalCores(): number {
  const siblings = new Set(cpus().map((_, i) => siblingsOf(i) ?? `${i}`))
  return Math.max(1, Math.min(availableParallelism(), siblings.size))
}

/** The processors of the core that a processor belongs to, as Linux tells it: `0,4` or `0-1`. */
function siblingsOf(processor: number): string | undefined {
  try {
    return readFileSync(`/sys/devices/system/cpu/cpu${processor}/topology/thread_siblings_list`, 'utf8').trim()
  } catch {
    return undefined
  }
}
