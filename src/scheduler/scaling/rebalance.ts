import {assumedPrice} from '../../inference-client/index.js'
import type {QueuedTask} from '../../tasks/index.js'
import {priorities} from '../../workspace/index.js'
import {taskWeight} from './load.js'

export interface RebalanceAgent {
  id: number
  /** Weighted load, including the running task. */
  load: number
  /** It receives no tasks; its own may be moved away. */
  paused: boolean
  /** US dollars per 1,000 tokens of its model. */
  pricePer1k?: number | undefined
}

export interface RebalanceOptions {
  costPreference: 'performance' | 'economy'
  /**
   * Moves only urgent tasks, away from agents with more than this many of them waiting. If omitted, tasks of any
   * priority move from the busiest agents to the least busy ones.
   */
  urgentThreshold?: number | undefined
  /** True if an agent meets the requirements of a task; default: always. */
  fits?: (taskId: number, agentId: number) => boolean
}

export interface Move {
  taskId: number
  from: number
  to: number
}

/** Load above the average at which tasks are moved away. */
const tolerance = 2

/** Plans which queued tasks change agents. Loads are updated after every move. */
export function planRebalance(
  agents: readonly RebalanceAgent[],
  tasks: readonly QueuedTask[],
  options: RebalanceOptions,
): Move[] {
  const queues = agents.map((agent) => ({...agent, tasks: departures(tasks, agent.id)}))
  return options.urgentThreshold === undefined
    ? levelLoads(queues, options)
    : spreadUrgent(queues, options, options.urgentThreshold)
}

/** True if an agent has too many urgent tasks waiting and another one could take some. */
export function urgentRebalanceDue(
  urgentDepths: readonly number[],
  {urgentRebalanceThreshold, scalingCooldownMs}: {urgentRebalanceThreshold: number; scalingCooldownMs: number},
  nowMs: number,
  lastRebalanceMs?: number,
): boolean {
  if (urgentRebalanceThreshold <= 0 || urgentDepths.length < 2) return false
  if (lastRebalanceMs !== undefined && nowMs - lastRebalanceMs < scalingCooldownMs) return false
  return urgentDepths.some((depth) => depth > urgentRebalanceThreshold)
}

/** An agent and its waiting tasks during planning. */
interface AgentQueue extends RebalanceAgent {
  tasks: QueuedTask[]
}

/** The tasks of an agent in the order in which they should leave: those that it would run last come first. */
function departures(tasks: readonly QueuedTask[], agentId: number): QueuedTask[] {
  const rank = ({priority}: QueuedTask) => priorities.indexOf(priority)
  return tasks
    .filter((task) => task.agentId === agentId)
    .sort((a, b) => rank(a) - rank(b) || b.createdAtMs - a.createdAtMs || b.id - a.id)
}

/**
 * Moves one task for each pair of an agent far above the average load and one below it. No move leaves the target with
 * as much load as the source had, so that a second run does not move tasks back.
 */
function levelLoads(queues: readonly AgentQueue[], options: RebalanceOptions): Move[] {
  const average = queues.reduce((sum, {load}) => sum + load, 0) / Math.max(queues.length, 1)
  const isOver = ({load}: AgentQueue) => load > average + tolerance
  const isUnder = ({load, paused}: AgentQueue) => load < average && !paused
  const sources = queues.filter(isOver).sort((a, b) => b.load - a.load || a.id - b.id)
  const targets = queues.filter(isUnder).sort(byPreference(options))
  const moves: Move[] = []
  for (const source of sources)
    for (const target of targets) {
      if (!isOver(source)) break
      if (!isUnder(target)) continue
      const task = source.tasks.find((one) => target.load + weight(one) < source.load && mayMove(one, target, options))
      if (task !== undefined) moves.push(move(task, source, target))
    }
  return moves
}

/** Moves urgent tasks away until the threshold is met, to agents that stay within it. */
function spreadUrgent(queues: readonly AgentQueue[], options: RebalanceOptions, threshold: number): Move[] {
  const moves: Move[] = []
  const sources = queues
    .filter((queue) => urgentTasks(queue).length > threshold)
    .sort((a, b) => urgentTasks(b).length - urgentTasks(a).length || a.id - b.id)
  for (const source of sources)
    for (const task of urgentTasks(source)) {
      if (urgentTasks(source).length <= threshold) break
      const target = queues
        .filter((queue) => !queue.paused && urgentTasks(queue).length < threshold && mayMove(task, queue, options))
        .sort(byPreference(options))[0]
      if (target !== undefined) moves.push(move(task, source, target))
    }
  return moves
}

const urgentTasks = ({tasks}: AgentQueue) => tasks.filter(({priority}) => priority === 'urgent')

const weight = ({priority, complexity}: QueuedTask) => taskWeight(priority, complexity)

const mayMove = ({id, movable}: QueuedTask, target: AgentQueue, {fits}: RebalanceOptions) =>
  movable && (fits?.(id, target.id) ?? true)

/** Least busy first; with economy preference, cheapest first. */
function byPreference({costPreference}: RebalanceOptions): (a: AgentQueue, b: AgentQueue) => number {
  const price = ({pricePer1k = assumedPrice}: AgentQueue) => (costPreference === 'economy' ? pricePer1k : 0)
  return (a, b) => price(a) - price(b) || a.load - b.load || a.id - b.id
}

/** Plans one move and updates both agents. A task moves only once. */
function move(task: QueuedTask, source: AgentQueue, target: AgentQueue): Move {
  source.tasks = source.tasks.filter((one) => one !== task)
  source.load -= weight(task)
  target.load += weight(task)
  target.tasks = [...target.tasks, {...task, movable: false}]
  return {taskId: task.id, from: source.id, to: target.id}
}
