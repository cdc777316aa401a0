import {isErrorOf} from '../../errors/index.js'
import {
  type AgentLoad,
  agentLoads,
  readState,
  refreshAgentLoads,
  remoteNodes,
  retireAgent,
  spawnAgent,
  sumOfLoads,
  writeState,
} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

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
export function scalingTick(context: WorkspaceContext, usage: ResourceUsage): ScalingTick {
  return context.store.transaction(() => {
    const agents = refreshAgentLoads(context)
    const total = totalLoad(sumOfLoads(agents), usage, context.config)
    const history = pushHistory(readState(context, 'load_history') ?? [], total, context.config.scalingLookbackTicks)
    if (total !== 0 || history.some((load) => load !== 0)) writeState(context, 'load_history', history)
    const decision = decideScaling(
      {
        agents,
        totalLoad: total,
        predictedLoad: predictLoad(history, total),
        totalQueued: agents.reduce((sum, {queued}) => sum + queued, 0),
        remote: context.config.scalingEnabled ? (remoteNodes(context)?.nodes ?? []) : [],
        costCritical: agents.some((agent) => isCostly(context, agent)),
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

const isCostly = ({config}: WorkspaceContext, {costUsdMicros: cost}: AgentLoad) =>
  config.financialCostBudgetMicros > 0 && cost >= costAlertShare * config.financialCostBudgetMicros

/** Starts agents and gives them a share of the waiting tasks. */
function scaleUp(context: WorkspaceContext, count: number): string[] {
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
function retireIdle(context: WorkspaceContext, id: number): string[] {
  try {
    return [retireAgent(context, id).agent.name]
  } catch (error) {
    if (isErrorOf(error, 'last_agent')) return []
    throw error
  }
}

/** Gives agents started because of the load a share of it until none is idle. */
function shareWithIdle(context: WorkspaceContext): number {
  if (!context.config.scalingEnabled) return 0
  const agents = agentLoads(context)
  const isIdle = agents.some(({isPaused, load}) => !isPaused && load === 0)
  const isBusy = agents.some(({queued}) => queued > 1)
  return isIdle && isBusy ? rebalance(context).length : 0
}

function spreadUrgent(context: WorkspaceContext): number {
  const {config, now} = context
  const depths = agentLoads(context).map(({queuedUrgent}) => queuedUrgent)
  if (!urgentRebalanceDue(depths, config, now(), momentOf(context, 'last_rebalance_ms'))) return 0
  return rebalance(context, {urgentOnly: true}).length
}

/** The load of the last tick and the predicted one. */
export function loadOutlook(context: WorkspaceContext): {total: number; predicted: number} {
  const total = sumOfLoads(agentLoads(context))
  return {total, predicted: predictLoad(readState(context, 'load_history') ?? [], total)}
}

/** A stored time; ignored if it is in the future because the clock was set back. */
function momentOf(context: WorkspaceContext, key: 'last_scale_up_ms' | 'last_rebalance_ms'): number | undefined {
  const stored = readState(context, key)
  return stored === undefined || stored > context.now() ? undefined : stored
}
