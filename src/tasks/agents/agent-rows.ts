import {nearest, SvcError} from '../../errors/index.js'
import type {Capabilities, WorkspaceContext} from '../../workspace/index.js'
import type {Agent} from '../base/agent.js'
import {displayAgent, matchId} from '../base/ids.js'
import type {Task} from '../base/task.js'

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
  /** Cost since the last completed task, in millionths of a US dollar. */
  unfinished_cost_micros: number
  /** Day (UTC) of `day_tokens` and `day_cost_micros`, counted from 1970-01-01. */
  budget_day: number
  day_tokens: number
  day_cost_micros: number
  /** Index of the staleness level that was reported last; 0 if none. */
  idle_level: number
  /** Number of automatic continuations since the last progress. */
  continuations: number
  continued_at_ms: number | null
  validation_failures: number
  reducer_cooldown_until_ms: number | null
  created_at_ms: number
  last_active_ms: number
}

/** Load is stored in units of 1/25, as integers. */
export const loadUnits = 25

/** All agents that are not retired, ordered by id. */
export const agentRows = ({store, repositoryId}: WorkspaceContext): AgentRow[] =>
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
  | 'unfinished_cost_micros'
  | 'budget_day'
  | 'day_tokens'
  | 'day_cost_micros'
  | 'validation_failures'
  | 'reducer_cooldown_until_ms'
  | 'last_active_ms'
>

/** Agents with a queue: all except the resolution agent. */
export const workingAgents = ({store, repositoryId}: WorkspaceContext): WorkingAgent[] =>
  store.all<WorkingAgent>(
    `SELECT id, name, kind, state, capabilities, model, queued_background, queued_normal, queued_urgent, running, load,
  cost_usd_micros, unfinished_cost_micros, budget_day, day_tokens, day_cost_micros, validation_failures, reducer_cooldown_until_ms, last_active_ms
FROM orch_agents WHERE repository_id = ? AND state <> 'retired' AND kind <> 'resolution' ORDER BY id`,
    [repositoryId],
  )

/** Ids of active agents with queued tasks. */
export const agentsWithWork = ({store, repositoryId}: WorkspaceContext): number[] =>
  store
    .all<{id: number}>(
      `SELECT id FROM orch_agents WHERE repository_id = ? AND state = 'active' AND kind <> 'resolution'
  AND queued_background + queued_normal + queued_urgent > 0 ORDER BY id`,
      [repositoryId],
    )
    .map(({id}) => id)

export const queuedOf = (row: Pick<AgentRow, 'queued_background' | 'queued_normal' | 'queued_urgent'>): number =>
  row.queued_background + row.queued_normal + row.queued_urgent

export const findAgentNamed = ({store, repositoryId}: WorkspaceContext, name: string): AgentRow | undefined =>
  store.get<AgentRow>("SELECT * FROM orch_agents WHERE repository_id = ? AND name = ? AND state <> 'retired'", [
    repositoryId,
    name,
  ])

/**
 * Finds an agent by name or by id (`3`, `A-03`). A name takes precedence over an id; a number is always an id.
 * @throws agent_not_found with the nearest name
 */
export function requireAgent(context: WorkspaceContext, nameOrId: string | number): AgentRow {
  const rows = agentRows(context)
  const text = String(nameOrId)
  const id = typeof nameOrId === 'number' ? nameOrId : matchId(text, 'A')
  const named = typeof nameOrId === 'number' ? undefined : rows.find(({name}) => name === text)
  const found = named ?? rows.find((row) => row.id === id)
  if (found !== undefined) return found
  const suggestion = nearest(
    text,
    rows.map(({name}) => name),
  )
  throw new SvcError('agent_not_found', {agent: text, suggestion})
}

/** As `requireAgent`, but also finds retired agents: the latest of a name. @throws agent_not_found */
export function requireAnyAgent(context: WorkspaceContext, nameOrId: string | number): AgentRow {
  const {store, repositoryId} = context
  try {
    return requireAgent(context, nameOrId)
  } catch (error) {
    const id = typeof nameOrId === 'number' ? nameOrId : matchId(nameOrId, 'A')
    const retired = store.get<AgentRow>(
      "SELECT * FROM orch_agents WHERE repository_id = ? AND state = 'retired' AND (id = ? OR name = ?) ORDER BY id DESC",
      [repositoryId, id ?? null, typeof nameOrId === 'number' ? null : nameOrId],
    )
    if (retired === undefined) throw error
    return retired
  }
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

/** Applies the model of the agent as preference, unless the task has its own. */
export function withAgentModel({store}: WorkspaceContext, task: Task): Task {
  if (task.model_preference !== undefined) return task
  const agent = store.get<{model: string | null}>('SELECT model FROM orch_agents WHERE id = ?', [task.agent_id])
  return agent?.model ? {...task, model_preference: agent.model} : task
}

/** Facts about an agent that are in other tables. */
interface AgentWork {
  owned_files: number
  /** Highest number of hand-overs among its unfinished tasks. */
  max_handoff_count: number
  /** Of a task in progress. */
  current_phase: Agent['current_phase'] | null
  /** Of its oldest task in progress. */
  active_skill: string | null
}

/** Reads the facts about one agent, or about all, with two queries; each reads few rows through an index. */
function readWork({store, repositoryId}: WorkspaceContext, agentId?: number): (agentId: number) => AgentWork {
  const params = {repository: repositoryId, agent: agentId ?? null}
  const handoffs = store.all<{agent_id: number; handoffs: number}>(
    `SELECT agent_id, max(handoff_count) AS handoffs FROM orch_tasks INDEXED BY orch_tasks_handoffs
WHERE repository_id = @repository AND handoff_count > 0 AND status NOT IN ('Completed', 'Failed', 'Cancelled')
  AND (@agent IS NULL OR agent_id = @agent) GROUP BY agent_id`,
    params,
  )
  const rows = store.all<Omit<AgentWork, 'max_handoff_count'> & {id: number}>(
    `SELECT a.id, (SELECT count(*) FROM orch_affinity WHERE agent_id = a.id) AS owned_files,
  (SELECT current_phase FROM orch_tasks WHERE repository_id = a.repository_id AND status = 'InProgress'
    AND agent_id = a.id AND current_phase IS NOT NULL LIMIT 1) AS current_phase,
  (SELECT request ->> 'active_skill' FROM orch_tasks WHERE repository_id = a.repository_id AND status = 'InProgress'
    AND agent_id = a.id ORDER BY id LIMIT 1) AS active_skill
FROM orch_agents a WHERE a.repository_id = @repository AND a.state <> 'retired' AND (@agent IS NULL OR a.id = @agent)`,
    params,
  )
  const byAgent = new Map(rows.map(({id, ...work}) => [id, work]))
  return (id) => ({
    ...(byAgent.get(id) ?? {owned_files: 0, current_phase: null, active_skill: null}),
    max_handoff_count: handoffs.find(({agent_id}) => agent_id === id)?.handoffs ?? 0,
  })
}

/** Columns that are not published, or under another name. */
const privateColumns: ReadonlySet<string> = new Set([
  'repository_id',
  'load',
  'cost_usd_micros',
  'unfinished_cost_micros',
  'budget_day',
  'day_tokens',
  'day_cost_micros',
  'idle_level',
  'continuations',
  'continued_at_ms',
  'validation_failures',
  'reducer_cooldown_until_ms',
  'retired_at_ms',
])

function describeAgent(row: AgentRow, {current_phase, ...work}: AgentWork): Agent {
  const agent: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) if (value !== null && !privateColumns.has(name)) agent[name] = value
  if (current_phase !== null) agent.current_phase = current_phase
  return Object.assign(agent, work, {
    display_id: displayAgent(row.id),
    capabilities: capabilitiesOf(row),
    queued: queuedOf(row),
    weighted_load: row.load / loadUnits,
    cost_usd: row.cost_usd_micros / 1e6,
    urgent_count: row.queued_urgent,
    normal_count: row.queued_normal,
    background_count: row.queued_background,
    doubted_count: row.doubted,
    in_progress: row.running > 0,
    paused: row.state === 'paused',
    dynamic: row.kind === 'dynamic',
    agent_session_id: row.session_id,
  }) as unknown as Agent
}

export const toAgent = (context: WorkspaceContext, row: AgentRow): Agent =>
  describeAgent(row, readWork(context, row.id)(row.id))

/** All agents that are not retired, ordered by id. */
export function listAgents(context: WorkspaceContext): Agent[] {
  const workOf = readWork(context)
  return agentRows(context).map((row) => describeAgent(row, workOf(row.id)))
}
