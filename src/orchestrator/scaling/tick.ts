import {type AgentRow, loadUnits, workingAgents} from '../agents/agent-rows.js'
import {retireAgent} from '../agents/retire.js'
import {ensureAgents, spawnAgent} from '../agents/spawn.js'
import type {OrchestratorContext} from '../context.js'
import {momentOf, readState, writeState} from '../state.js'
import {decideScaling} from './decide.js'
import {predictLoad, pushHistory, type ResourceUsage, totalLoad} from './load.js'
import {urgentRebalanceDue} from './rebalance.js'
import {rebalance} from './rebalance-queues.js'

/** What one tick changed. */
export interface ScalingTick {
  spawned: string[]
  retired: string[]
  moved: number
}

/** The part of what an agent may cost from which it counts as nearly used up. */
const costAlertShare = 0.9

/** One tick: records the load, starts or retires agents, and spreads urgent tasks where too many wait for one agent. */
export function scalingTick(context: OrchestratorContext, usage: ResourceUsage): ScalingTick {
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
        remote: [],
        costCritical: agents.some((row) => isCostly(context, row)),
        lastScaleUpMs: momentOf(context, 'last_scale_up_ms'),
        nowMs: context.now(),
      },
      context.config,
    )
    const spawned = decision.kind === 'up' ? scaleUp(context, decision.count) : []
    const retired = decision.kind === 'down' ? decision.agents.map((id) => retireAgent(context, id).agent.name) : []
    return {spawned, retired, moved: spreadUrgent(context)}
  })
}

/** An agent that was active in the future, because the clock was set back, was active just now. */
function forgetFuture({store, repositoryId, now}: OrchestratorContext): void {
  store.run('UPDATE orch_agents SET last_active_ms = ? WHERE repository_id = ? AND last_active_ms > ?', [
    now(),
    repositoryId,
    now(),
  ])
}

const queuedOf = (row: AgentRow) => row.queued_background + row.queued_normal + row.queued_urgent

const sumOf = (agents: readonly AgentRow[]) => agents.reduce((sum, {load}) => sum + load, 0) / loadUnits

const isCostly = ({config}: OrchestratorContext, {cost_usd_micros: cost}: AgentRow) =>
  config.financialCostBudgetMicros > 0 && cost >= costAlertShare * config.financialCostBudgetMicros

/** New agents would have nothing to do without a share of what waits already. */
function scaleUp(context: OrchestratorContext, count: number): string[] {
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

function spreadUrgent(context: OrchestratorContext): number {
  const {config, now} = context
  const agents = workingAgents(context)
  const depths = agents.map((row) => row.queued_urgent)
  if (!urgentRebalanceDue(depths, config, now(), momentOf(context, 'last_rebalance_ms'))) return 0
  return rebalance(context, {urgentOnly: true}).length
}

/** The load of the last tick, and the one to expect next. */
export function loadOutlook(context: OrchestratorContext): {total: number; predicted: number} {
  const total = sumOf(workingAgents(context))
  return {total, predicted: predictLoad(readState(context, 'load_history') ?? [], total)}
}
