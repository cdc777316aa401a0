import {isErrorOf} from '../../errors/index.js'
import {
  ensureAgents,
  loadUnits,
  momentOf,
  queuedOf,
  readState,
  remoteNodes,
  retireAgent,
  spawnAgent,
  type TaskContext,
  type WorkingAgent,
  workingAgents,
  writeState,
} from '../../tasks/index.js'

import {decideScaling} from './decide.js'
import {predictLoad, pushHistory, type ResourceUsage, totalLoad} from './load.js'
import {urgentRebalanceDue} from './rebalance.js'
import {rebalance} from './rebalance-queues.js'

/** The changes of one tick. */
export interface ScalingTick {
  spawned: string[]
  retired: string[]
  moved: number
}

/** The share of an agent's budget above which it counts as nearly used up. */
const costAlertShare = 0.9

/** One tick: records the load, starts or retires agents, and spreads urgent tasks if one agent has too many. */
export function scalingTick(context: TaskContext, usage: ResourceUsage): ScalingTick {
  return context.store.transaction(() => {
    forgetFuture(context)
    const agents = ensureAgents(context)
    const total = totalLoad(sumOf(agents), usage, context.config)
    const history = pushHistory(readState(context, 'load_history') ?? [], total, context.config.scalingLookbackTicks)
    if (total !== 0 || history.some((load) => load !== 0)) writeState(context, 'load_history', history)
    const decision = decideScaling(
      {
        agents: agents.map((row) => ({
          id: row.id,
          dynamic: row.kind === 'dynamic',
          queued: queuedOf(row),
          running: row.running,
          lastActiveMs: row.last_active_ms,
        })),
        totalLoad: total,
        predictedLoad: predictLoad(history, total),
        totalQueued: agents.reduce((sum, row) => sum + queuedOf(row), 0),
        remote: context.config.scalingEnabled ? (remoteNodes(context)?.nodes ?? []) : [],
        costCritical: agents.some((row) => isCostly(context, row)),
        lastScaleUpMs: momentOf(context, 'last_scale_up_ms'),
        nowMs: context.now(),
      },
      context.config,
    )
    const spawned = decision.kind === 'up' ? scaleUp(context, decision.count) : []
    const retired = decision.kind === 'down' ? decision.agents.flatMap((id) => retireIdle(context, id)) : []
    const spread = spreadUrgent(context)
    return {spawned, retired, moved: spread > 0 ? spread : shareWithIdle(context)}
  })
}

/** Corrects activity times in the future to now: the clock was set back. */
function forgetFuture({store, repositoryId, now}: TaskContext): void {
  store.run('UPDATE orch_agents SET last_active_ms = ? WHERE repository_id = ? AND last_active_ms > ?', [
    now(),
    repositoryId,
    now(),
  ])
}

const sumOf = (agents: readonly WorkingAgent[]) => agents.reduce((sum, {load}) => sum + load, 0) / loadUnits

const isCostly = ({config}: TaskContext, {cost_usd_micros: cost}: WorkingAgent) =>
  config.financialCostBudgetMicros > 0 && cost >= costAlertShare * config.financialCostBudgetMicros

/** Starts agents and gives them a share of the waiting tasks. */
function scaleUp(context: TaskContext, count: number): string[] {
  writeState(context, 'last_scale_up_ms', context.now())
  const names = Array.from({length: count}, () => {
    const suffix = Math.floor(context.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
    return spawnAgent(context, {name: `transient-${suffix}`, kind: 'dynamic', reason: 'scaling_load'}).name
  })
  rebalance(context)
  return names
}

/** Retires an idle agent unless no other agent could take the blocked tasks that it still has. */
function retireIdle(context: TaskContext, id: number): string[] {
  try {
    return [retireAgent(context, id).agent.name]
  } catch (error) {
    if (isErrorOf(error, 'last_agent')) return []
    throw error
  }
}

/** Gives agents started because of the load a share of it until none is idle. */
function shareWithIdle(context: TaskContext): number {
  if (!context.config.scalingEnabled) return 0
  const agents = workingAgents(context)
  const isIdle = agents.some((row) => row.state === 'active' && row.load === 0)
  const isBusy = agents.some((row) => queuedOf(row) > 1)
  return isIdle && isBusy ? rebalance(context).length : 0
}

function spreadUrgent(context: TaskContext): number {
  const {config, now} = context
  const agents = workingAgents(context)
  const depths = agents.map((row) => row.queued_urgent)
  if (!urgentRebalanceDue(depths, config, now(), momentOf(context, 'last_rebalance_ms'))) return 0
  return rebalance(context, {urgentOnly: true}).length
}

/** The load of the last tick and the predicted one. */
export function loadOutlook(context: TaskContext): {total: number; predicted: number} {
  const total = sumOf(workingAgents(context))
  return {total, predicted: predictLoad(readState(context, 'load_history') ?? [], total)}
}
