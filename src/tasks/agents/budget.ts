import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {OrchestratorConfig, WorkspaceContext} from '../../workspace/index.js'
import {emitCost, type Usage} from '../events/cost.js'
import {appendEvent} from '../events/event-log.js'
import {type AgentRow, agentRows, requireAgent} from './agent-rows.js'

const dayMs = 86_400_000

/** Cost since the last completed task above which an agent is assumed to repeat failing work, millionths of a US dollar. */
const doomLoopMicros = 2_000_000

/** Share of a budget at which an alert is emitted. */
const alertShares = {tokens: 0.8, cost: 0.9}

type Budgets = Pick<OrchestratorConfig, 'agentTokenBudget' | 'agentDailyBudgetMicros'>

/** What an agent has used; tokens and cost of the current day. Costs are in millionths of a US dollar. */
export interface Spending {
  tokens: number
  costMicros: number
  unfinishedCostMicros: number
}

type Spender = Pick<AgentRow, 'unfinished_cost_micros' | 'budget_day' | 'day_tokens' | 'day_cost_micros'>

const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs)

export const spendingOf = (row: Spender, nowMs: number): Spending => {
  const isToday = row.budget_day === dayOf(nowMs)
  return {
    tokens: isToday ? row.day_tokens : 0,
    costMicros: isToday ? row.day_cost_micros : 0,
    unfinishedCostMicros: row.unfinished_cost_micros,
  }
}

/** A rough number of tokens that a task needs. */
export const estimateTokens = (description: string, files: number): number =>
  Math.ceil(description.length / 4) + 200 * files

/** Why an agent gets no new task; undefined if it may get one. The token budget applies once the agent has used any. */
export function overspent(
  {tokens, costMicros, unfinishedCostMicros}: Spending,
  {agentTokenBudget, agentDailyBudgetMicros}: Budgets,
  estimate = 0,
): 'doom_loop' | 'tokens' | 'cost' | undefined {
  if (unfinishedCostMicros > doomLoopMicros) return 'doom_loop'
  if (agentTokenBudget > 0 && tokens > 0 && tokens + estimate > agentTokenBudget) return 'tokens'
  return agentDailyBudgetMicros > 0 && costMicros >= agentDailyBudgetMicros ? 'cost' : undefined
}

/**
 * Checks that an agent may get a task.
 * @param estimate tokens that the task needs
 * @throws doom_loop, budget_exceeded
 */
export function requireBudget({config, now}: WorkspaceContext, row: Spender & {name: string}, estimate: number): void {
  const spending = spendingOf(row, now())
  const kind = overspent(spending, config, estimate)
  const agent = row.name
  if (kind === undefined) return
  if (kind === 'doom_loop')
    throw new SvcError('doom_loop', {agent, used: spending.unfinishedCostMicros, limit: doomLoopMicros})
  const [used, limit] =
    kind === 'tokens'
      ? [spending.tokens, config.agentTokenBudget]
      : [spending.costMicros, config.agentDailyBudgetMicros]
  throw new SvcError('budget_exceeded', {agent, kind, used, estimate, limit})
}

/** The budgets whose alert share is reached by a change of the spending. */
export function newAlerts(
  before: Spending,
  after: Spending,
  config: Budgets,
): {kind: 'tokens' | 'cost'; used: number; limit: number}[] {
  const crosses = (from: number, to: number, at: number) => from < at && to >= at
  const budgets = [
    {kind: 'tokens', from: before.tokens, used: after.tokens, limit: config.agentTokenBudget},
    {kind: 'cost', from: before.costMicros, used: after.costMicros, limit: config.agentDailyBudgetMicros},
  ] as const
  return budgets.flatMap(({kind, from, used, limit}) =>
    limit > 0 && crosses(from, used, alertShares[kind] * limit) ? [{kind, used, limit}] : [],
  )
}

/** Adds the tokens and the cost of a model call to an agent, with its events. */
export function chargeAgent(context: WorkspaceContext, agentId: number, usage: Usage, taskId?: number): void {
  const {store, now, config} = context
  const before = spendingOf(requireSpender(context, agentId), now())
  const tokens = usage.inputTokens + usage.outputTokens
  const micros = Math.round(usage.costUsd * 1e6)
  const after = {
    tokens: before.tokens + tokens,
    costMicros: before.costMicros + micros,
    unfinishedCostMicros: before.unfinishedCostMicros + micros,
  }
  store.run(
    `UPDATE orch_agents SET tokens_used = tokens_used + ?, cost_usd_micros = cost_usd_micros + ?, unfinished_cost_micros = ?,
  budget_day = ?, day_tokens = ?, day_cost_micros = ? WHERE id = ?`,
    [tokens, micros, after.unfinishedCostMicros, dayOf(now()), after.tokens, after.costMicros, agentId],
  )
  emitCost(context, usage, {agent_id: agentId, ...withoutUndefined({task_id: taskId})})
  for (const alert of newAlerts(before, after, config))
    appendEvent(context, {type: 'budget_alert', agent_id: agentId, ...alert})
}

const requireSpender = ({store}: WorkspaceContext, id: number): Spender =>
  store.get<Spender>(
    'SELECT unfinished_cost_micros, budget_day, day_tokens, day_cost_micros FROM orch_agents WHERE id = ?',
    [id],
  ) ?? {unfinished_cost_micros: 0, budget_day: 0, day_tokens: 0, day_cost_micros: 0}

/** An agent has completed a task: its spending without a completed task starts again. */
export const clearUnfinishedCost = ({store}: WorkspaceContext, agentId: number): void => {
  store.run('UPDATE orch_agents SET unfinished_cost_micros = 0 WHERE id = ? AND unfinished_cost_micros > 0', [agentId])
}

/** The spending of an agent, with its limits; a limit of 0 is none. */
export interface AgentBudget {
  agent_id: number
  name: string
  tokens_today: number
  token_limit: number
  cost_usd_today: number
  cost_limit_usd: number
  /** Since its last completed task. */
  unfinished_cost_usd: number
  /** Total since the agent was spawned. */
  tokens_used: number
  cost_usd: number
  /** Why new tasks for the agent are refused. */
  blocked_by: 'doom_loop' | 'tokens' | 'cost' | null
}

/** The budgets of all agents, or of one. @throws agent_not_found */
export function agentBudgets(context: WorkspaceContext, nameOrId?: string | number): AgentBudget[] {
  const {config, now} = context
  const rows =
    nameOrId === undefined
      ? agentRows(context).filter(({kind}) => kind !== 'resolution')
      : [requireAgent(context, nameOrId)]
  return rows.map((row) => {
    const spending = spendingOf(row, now())
    return {
      agent_id: row.id,
      name: row.name,
      tokens_today: spending.tokens,
      token_limit: config.agentTokenBudget,
      cost_usd_today: spending.costMicros / 1e6,
      cost_limit_usd: config.agentDailyBudgetMicros / 1e6,
      unfinished_cost_usd: spending.unfinishedCostMicros / 1e6,
      tokens_used: row.tokens_used,
      cost_usd: row.cost_usd_micros / 1e6,
      blocked_by: overspent(spending, config) ?? null,
    }
  })
}
