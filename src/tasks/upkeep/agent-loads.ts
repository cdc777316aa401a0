import {type Capabilities, type Priority, priorities, type WorkspaceContext} from '../../workspace/index.js'
import {capabilitiesOf, loadUnits, queuedOf, type WorkingAgent, workingAgents} from '../agents/agent-rows.js'
import {ensureAgents} from '../agents/spawn.js'
import {moveToAgent} from '../lifecycle/move-to-agent.js'
import {requireRow} from '../lifecycle/task-rows.js'

/** The queue and the load of an agent, as scaling and rebalancing need them. */
export interface AgentLoad {
  id: number
  /** Started on demand, so it may be retired when idle. */
  isDynamic: boolean
  /** It receives no tasks. */
  isPaused: boolean
  queued: number
  queuedUrgent: number
  running: number
  /** Weighted load of queued and running tasks. */
  load: number
  costUsdMicros: number
  model: string | undefined
  capabilities: Capabilities
  /** Unix ms. */
  lastActiveMs: number
}

const toLoad = (row: WorkingAgent): AgentLoad => ({
  id: row.id,
  isDynamic: row.kind === 'dynamic',
  isPaused: row.state === 'paused',
  queued: queuedOf(row),
  queuedUrgent: row.queued_urgent,
  running: row.running,
  load: row.load / loadUnits,
  costUsdMicros: row.cost_usd_micros,
  model: row.model ?? undefined,
  capabilities: capabilitiesOf(row),
  lastActiveMs: row.last_active_ms,
})

/** The total load. Loads are counted in fractions, whose sum would otherwise have rounding errors. */
export const sumOfLoads = (agents: readonly AgentLoad[]): number =>
  Math.round(agents.reduce((sum, {load}) => sum + load, 0) * loadUnits) / loadUnits

/** The loads of all agents with a queue, ordered by id. */
export const agentLoads = (context: WorkspaceContext): AgentLoad[] => workingAgents(context).map(toLoad)

/**
 * As `agentLoads`, after the minimum of agents has been started. Corrects activity times in the future to now: the clock
 * was set back.
 */
export function refreshAgentLoads(context: WorkspaceContext): AgentLoad[] {
  const {store, repositoryId, now} = context
  store.run('UPDATE orch_agents SET last_active_ms = ? WHERE repository_id = ? AND last_active_ms > ?', [
    now(),
    repositoryId,
    now(),
  ])
  return ensureAgents(context).map(toLoad)
}

/** A queued task that could move to another agent. */
export interface QueuedTask {
  id: number
  agentId: number
  priority: Priority
  complexity: number
  /** Unix ms. */
  createdAtMs: number
  /** False if another agent has locked a file that it writes. */
  movable: boolean
  /** What an agent must offer; undefined for any agent. */
  needs: Capabilities | undefined
}

interface WaitingRow {
  id: number
  agent_id: number
  priority: 0 | 1 | 2
  complexity: number
  created_at_ms: number
  movable: 0 | 1
  requirements: string | null
}

/** Queued tasks of at least a priority; within a priority the latest first. */
export const waitingTasks = (
  {store, repositoryId}: WorkspaceContext,
  {minPriority, limit}: {minPriority: Priority; limit: number},
): QueuedTask[] =>
  store
    .all<WaitingRow>(
      `SELECT t.id, t.agent_id, t.priority, t.complexity, t.created_at_ms, t.request ->> 'capability_requirements' AS requirements,
  t.file_manifest = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(t.file_manifest) f JOIN orch_locks l
    ON l.repository_id = t.repository_id AND l.path = f.value ->> 'path' AND l.agent_id <> t.agent_id
    WHERE f.value ->> 'access' = 'write') AS movable
FROM orch_tasks t WHERE t.repository_id = ? AND t.status = 'Queued' AND t.priority >= ?
ORDER BY t.priority, t.id DESC LIMIT ?`,
      [repositoryId, priorities.indexOf(minPriority), limit],
    )
    .map(({id, agent_id, priority, complexity, created_at_ms, movable, requirements}) => ({
      id,
      agentId: agent_id,
      priority: priorities[priority],
      complexity,
      createdAtMs: created_at_ms,
      movable: movable === 1,
      needs: requirements === null ? undefined : (JSON.parse(requirements) as Capabilities),
    }))

/** Moves a waiting task to the queue of another agent. @throws task_not_found */
export const moveWaitingTask = (context: WorkspaceContext, id: number, agentId: number): void =>
  moveToAgent(context, requireRow(context, id), agentId)
