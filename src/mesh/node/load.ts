import {cpus} from 'node:os'
import type {NodeFacts} from '../protocol/node.js'

type Load = Pick<NodeFacts, 'cpu_usage_pct' | 'memory_free_bytes'>

/** Measures the CPU usage since the previous call, %, and the memory available to this process, bytes. */
export function loadProbe(): () => Load {
  let last = cpuTimes()
  return () => {
    const now = cpuTimes()
    const [busy, all] = [now.busy - last.busy, now.all - last.all]
    last = now
    return {
      ...(all > 0 ? {cpu_usage_pct: Math.round((1000 * busy) / all) / 10} : {}),
      memory_free_bytes: process.availableMemory(),
    }
  }
}

/** CPU times of all cores since boot, ms. */
function cpuTimes(): {busy: number; all: number} {
  let [busy, all] = [0, 0]
  for (const {times} of cpus()) {
    const {idle, user, nice, sys, irq} = times
    busy += user + nice + sys + irq
    all += user + nice + sys + irq + idle
  }
  return {busy, all}
}
