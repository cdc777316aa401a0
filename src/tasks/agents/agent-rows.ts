import {nearest, SvcError} from '../../errors/index.js'
import type {Agent} from '../base/agent.js'
import type {Capabilities} from '../base/capabilities.js'
import type {TaskContext} from '../base/context.js'
import {displayAgent, matchAgentId} from '../base/ids.js'
import {withoutNulls} from '../base/members.js'

/** A row of `orch_agents`. */
export interface AgentRow {
  id: number
  name: string
  kind: Agent['kind']
  state: Agent['state']
  parent_agent_id: number | null
  source_task_id: number | null
  spawn_reason: string | null
  capabilities: string
  model: string | null
  session_id: string | null
  activity: Agent['activity']
  queued_background: number
  queued_normal: number
  queued_urgent: number
  running: number
  doubted: number
  completed: number
  load: number
  tokens_used: number
  cost_usd_micros: number
  validation_failures: number
  reducer_cooldown_until_ms: number | null
  created_at_ms: number
  last_active_ms: number
}

/** Load is stored in units of 1/25, as integers. */
export const loadUnits = 25

/** All agents that are not retired, ordered by id. */
export const agentRows = ({store, repositoryId}: TaskContext): AgentRow[] =>
  store.all<AgentRow>("SELECT * FROM orch_agents WHERE repository_id = ? AND state <> 'retired' ORDER BY id", [
    repositoryId,
  ])

/** The columns that routing, scaling and dispatch need; few, because they are read for every task. */
export type WorkingAgent = Pick<
  AgentRow,
  | 'id'
  | 'name'
  | 'kind'
  | 'state'
  | 'capabilities'
  | 'model'
  | 'queued_background'
  | 'queued_normal'
  | 'queued_urgent'
  | 'running'
  | 'load'
  | 'cost_usd_micros'
  | 'validation_failures'
  | 'reducer_cooldown_until_ms'
  | 'last_active_ms'
>

/** Agents with a queue: all except the resolution agent. */
export const workingAgents = ({store, repositoryId}: TaskContext): WorkingAgent[] =>
  store.all<WorkingAgent>(
    `SELECT id, name, kind, state, capabilities, model, queued_background, queued_normal, queued_urgent, running, load,
  cost_usd_micros, validation_failures, reducer_cooldown_until_ms, last_active_ms
FROM orch_agents WHERE repository_id = ? AND state <> 'retired' AND kind <> 'resolution' ORDER BY id`,
    [repositoryId],
  )

/** Ids of active agents with queued tasks. */
export const agentsWithWork = ({store, repositoryId}: TaskContext): number[] =>
  store
    .all<{id: number}>(
      `SELECT id FROM orch_agents WHERE repository_id = ? AND state = 'active' AND kind <> 'resolution'
  AND queued_background + queued_normal + queued_urgent > 0 ORDER BY id`,
      [repositoryId],
    )
    .map(({id}) => id)

export const queuedOf = (row: Pick<AgentRow, 'queued_background' | 'queued_normal' | 'queued_urgent'>): number =>
  row.queued_background + row.queued_normal + row.queued_urgent

export const findAgentNamed = ({store, repositoryId}: TaskContext, name: string): AgentRow | undefined =>
  store.get<AgentRow>("SELECT * FROM orch_agents WHERE repository_id = ? AND name = ? AND state <> 'retired'", [
    repositoryId,
    name,
  ])

/**
 * Finds an agent by name or by id (`3`, `A-03`). A name takes precedence over an id; a number is always an id.
 * @throws agent_not_found with the nearest name
 */
export function requireAgent(context: TaskContext, nameOrId: string | number): AgentRow {
  const rows = agentRows(context)
  const text = String(nameOrId)
  const id = typeof nameOrId === 'number' ? nameOrId : matchAgentId(text)
  const named = typeof nameOrId === 'number' ? undefined : rows.find(({name}) => name === text)
  const found = named ?? rows.find((row) => row.id === id)
  if (found !== undefined) return found
  const suggestion = nearest(
    text,
    rows.map(({name}) => name),
  )
  throw new SvcError('agent_not_found', {agent: text, suggestion})
}

/** Parsed capabilities by their JSON, so that routing parses each distinct value only once. */
const parsed = new Map<string, Capabilities>()

export function capabilitiesOf({capabilities: json}: Pick<AgentRow, 'capabilities'>): Capabilities {
  let found = parsed.get(json)
  if (found === undefined) {
    found = JSON.parse(json) as Capabilities
    if (parsed.size > 1000) parsed.clear()
    parsed.set(json, found)
  }
  return found
}

export function toAgent({store, repositoryId}: TaskContext, row: AgentRow): Agent {
  const owned = store.get<{files: number}>('SELECT count(*) AS files FROM orch_affinity WHERE agent_id = ?', [row.id])
  const current = store.get<{current_phase: Agent['current_phase'] | null}>(
    `SELECT current_phase FROM orch_tasks WHERE repository_id = ? AND status = 'InProgress' AND agent_id = ?
  AND current_phase IS NOT NULL LIMIT 1`,
    [repositoryId, row.id],
  )
  const {load, cost_usd_micros, validation_failures, reducer_cooldown_until_ms, ...columns} = row
  const agent = {
    ...columns,
    display_id: displayAgent(row.id),
    capabilities: capabilitiesOf(row),
    queued: queuedOf(row),
    weighted_load: load / loadUnits,
    owned_files: owned?.files ?? 0,
    current_phase: current?.current_phase ?? null,
    cost_usd: cost_usd_micros / 1e6,
  }
  const {repository_id: _, retired_at_ms: __, ...published} = agent as typeof agent & Record<string, unknown>
  return withoutNulls(published) as unknown as Agent
}

/** All agents that are not retired, ordered by id. */
export const listAgents = (context: TaskContext): Agent[] => agentRows(context).map((row) => toAgent(context, row))
