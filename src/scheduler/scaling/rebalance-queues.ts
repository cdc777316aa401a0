import {meetsRequirements} from '../../mesh/index.js'
import {
  appendEvent,
  type Capabilities,
  capabilitiesOf,
  loadUnits,
  moveToAgent,
  priorities,
  type TaskContext,
  type WorkingAgent,
  workingAgents,
  writeState,
} from '../../tasks/index.js'

import {type Move, planRebalance, type QueuedTask} from './rebalance.js'

/** Maximum number of waiting tasks per rebalance. */
const mostTasks = 2000

interface WaitingRow {
  id: number
  status: 'Queued'
  agent_id: number
  priority: 0 | 1 | 2
  complexity: number
  created_at_ms: number
  movable: 0 | 1
  file_manifest: string
  requirements: string | null
}

/**
 * Moves waiting tasks from busy agents to others, in one transaction. Running tasks, and tasks whose files are locked
 * by another agent, are not moved.
 */
export function rebalance(context: TaskContext, {urgentOnly = false} = {}): Move[] {
  return context.store.transaction(() => {
    const {config, now} = context
    const agents = workingAgents(context)
    const waiting = waitingTasks(context, urgentOnly)
    const needs = new Map(
      waiting.flatMap(({id, requirements}) =>
        requirements === null ? [] : [[id, JSON.parse(requirements) as Capabilities]],
      ),
    )
    const offers = new Map(agents.map((row) => [row.id, capabilitiesOf(row)]))
    const moves = planRebalance(
      agents.map((row) => toRebalance(context, row)),
      waiting.map(toQueued),
      {
        costPreference: config.costPreference,
        ...(urgentOnly ? {urgentThreshold: config.urgentRebalanceThreshold} : {}),
        // Routing does not test this, since it must place every task.
        fits: (taskId, agentId) => {
          const needed = needs.get(taskId)
          const offered = offers.get(agentId)
          return needed === undefined || offered === undefined || meetsRequirements(offered, needed)
        },
      },
    )
    const rows = new Map(waiting.map((row) => [row.id, row]))
    for (const {taskId, to} of moves) {
      const row = rows.get(taskId)
      if (row !== undefined) moveToAgent(context, row, to)
    }
    // Also recorded if nothing could be moved, so that it is not retried at every tick.
    writeState(context, 'last_rebalance_ms', now())
    if (urgentOnly && moves.length > 0) appendEvent(context, {type: 'urgent_rebalance_triggered', moved: moves.length})
    return moves
  })
}

const waitingTasks = ({store, repositoryId}: TaskContext, urgentOnly: boolean): WaitingRow[] =>
  store.all<WaitingRow>(
    `SELECT t.id, t.status, t.agent_id, t.priority, t.complexity, t.created_at_ms, t.file_manifest, t.request ->> 'capability_requirements' AS requirements,
  t.file_manifest = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(t.file_manifest) f JOIN orch_locks l
    ON l.repository_id = t.repository_id AND l.path = f.value ->> 'path' AND l.agent_id <> t.agent_id
    WHERE f.value ->> 'access' = 'write') AS movable
FROM orch_tasks t WHERE t.repository_id = ? AND t.status = 'Queued' AND t.priority >= ?
ORDER BY t.priority, t.id DESC LIMIT ${mostTasks}`,
    [repositoryId, urgentOnly ? priorities.indexOf('urgent') : 0],
  )

const toQueued = ({id, agent_id, priority, complexity, created_at_ms, movable}: WaitingRow): QueuedTask => ({
  id,
  agentId: agent_id,
  priority: priorities[priority],
  complexity,
  createdAtMs: created_at_ms,
  movable: movable === 1,
})

const toRebalance = ({config}: TaskContext, row: WorkingAgent) => ({
  id: row.id,
  load: row.load / loadUnits,
  paused: row.state === 'paused',
  pricePer1k: row.model === null ? undefined : config.modelPrices[row.model],
})
