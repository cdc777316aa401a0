import os from 'node:os'
import type {Priority} from '../../workspace/index.js'

const priorityWeights: Readonly<Record<Priority, number>> = {urgent: 3, normal: 1, background: 0.4}
/** The complexity at which a task weighs as much as its priority. */
const usualComplexity = 5

/** A running or queued task that contributes to an agent's load. */
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

/** Resource usage of the machine, each from 0 to 1. */
export interface ResourceUsage {
  cpu: number
  memory: number
}

export interface ResourcePolicy {
  /** 0 ignores the machine's resource usage. */
  resourceWeight: number
  resourceCpuMultiplier: number
  resourceMemMultiplier: number
  resourceExponent: number
}

/** Total load of all agents, increased if the machine is busy. */
export function totalLoad(sum: number, {cpu, memory}: ResourceUsage, policy: ResourcePolicy): number {
  if (policy.resourceWeight === 0) return sum
  const busy = cpu * policy.resourceCpuMultiplier + memory * policy.resourceMemMultiplier
  return sum * (1 + policy.resourceWeight * busy ** policy.resourceExponent)
}

/** Extrapolates the load from the last ticks: the last value plus its difference from their mean. */
export function predictLoad(history: readonly number[], current: number): number {
  const last = history.at(-1)
  if (last === undefined) return current
  if (history.length === 1) return last
  const mean = history.reduce((sum, load) => sum + load, 0) / history.length
  return Math.max(0, last + (last - mean))
}

/** @param lookback number of samples to keep */
export const pushHistory = (history: readonly number[], load: number, lookback: number): readonly number[] =>
  [...history, load].slice(-Math.max(1, lookback))

/** A sample of the machine's resources. CPU times count from boot; memory is in bytes. */
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

/**
 * CPU usage between two samples, and memory usage at the later one. Two samples of the same moment report no CPU usage.
 */
export function resourceUsage(previous: ResourceSample, current: ResourceSample): ResourceUsage {
  const total = current.cpuTotalMs - previous.cpuTotalMs
  const idle = current.cpuIdleMs - previous.cpuIdleMs
  return {
    cpu: total > 0 ? fraction(1 - idle / total) : 0,
    memory: fraction(1 - current.memoryFree / current.memoryTotal),
  }
}

const fraction = (value: number) => Math.min(Math.max(value, 0), 1)
