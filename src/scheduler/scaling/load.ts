import os from 'node:os'
import type {Priority} from '../../tasks/index.js'

const priorityWeights: Readonly<Record<Priority, number>> = {urgent: 3, normal: 1, background: 0.4}
/** The complexity at which a task weighs as much as its priority. */
const usualComplexity = 5

/** What loads an agent: a task that it runs, or that waits in its queue. */
export interface Workload {
  priority: Priority
  /** 1 to 10. */
  complexity: number
}

export const taskWeight = (priority: Priority, complexity: number): number =>
  (priorityWeights[priority] * complexity) / usualComplexity

export function agentLoad(tasks: Iterable<Workload>): number {
  let load = 0
  for (const {priority, complexity} of tasks) load += taskWeight(priority, complexity)
  return load
}

/** How busy the machine is, each from 0 to 1. */
export interface ResourceUsage {
  cpu: number
  memory: number
}

export interface ResourcePolicy {
  /** 0 leaves the machine out of account. */
  resourceWeight: number
  resourceCpuMultiplier: number
  resourceMemMultiplier: number
  resourceExponent: number
}

/** The agents' loads together, which count for more on a machine that is busy. */
export function totalLoad(sum: number, {cpu, memory}: ResourceUsage, policy: ResourcePolicy): number {
  if (policy.resourceWeight === 0) return sum
  const busy = cpu * policy.resourceCpuMultiplier + memory * policy.resourceMemMultiplier
  return sum * (1 + policy.resourceWeight * busy ** policy.resourceExponent)
}

/** The load to expect, from the loads of the last ticks: as far beyond the last one as that is beyond their mean. */
export function predictLoad(history: readonly number[], current: number): number {
  const last = history.at(-1)
  if (last === undefined) return current
  if (history.length === 1) return last
  const mean = history.reduce((sum, load) => sum + load, 0) / history.length
  return Math.max(0, last + (last - mean))
}

/** @param lookback samples that are kept */
export const pushHistory = (history: readonly number[], load: number, lookback: number): readonly number[] =>
  [...history, load].slice(-Math.max(1, lookback))

/** One reading of the machine. The times count from its start; bytes. */
export interface ResourceSample {
  cpuIdleMs: number
  cpuTotalMs: number
  memoryFree: number
  memoryTotal: number
}

export function readResources(): ResourceSample {
  const times = os.cpus().map((cpu) => cpu.times)
  const cpuIdleMs = times.reduce((sum, {idle}) => sum + idle, 0)
  const cpuTotalMs = times.reduce((sum, {user, nice, sys, idle, irq}) => sum + user + nice + sys + idle + irq, 0)
  return {cpuIdleMs, cpuTotalMs, memoryFree: os.freemem(), memoryTotal: os.totalmem()}
}

/** Processors between two readings, memory at the later one. Two readings of one moment tell nothing of processors. */
export function resourceUsage(previous: ResourceSample, current: ResourceSample): ResourceUsage {
  const total = current.cpuTotalMs - previous.cpuTotalMs
  const idle = current.cpuIdleMs - previous.cpuIdleMs
  return {
    cpu: total > 0 ? fraction(1 - idle / total) : 0,
    memory: fraction(1 - current.memoryFree / current.memoryTotal),
  }
}

const fraction = (value: number) => Math.min(Math.max(value, 0), 1)
