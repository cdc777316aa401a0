import {SvcError} from '../../errors/index.js'
import {notify, type TaskStatus, type WorkspaceContext} from '../../workspace/index.js'
import {type AgentRow, workingAgents} from '../agents/agent-rows.js'
import {workingAgent} from '../agents/spawn.js'
import {displayAgent} from '../base/ids.js'
import {appendEvent} from '../events/event-log.js'
import {emitPlacement} from '../routing/placement-event.js'
import {requeueRow} from './finish.js'
import {moveToAgent} from './move-to-agent.js'
import {placeAgain} from './place-again.js'
import {selectTask, type TaskRow} from './task-rows.js'

/** The result of moving the tasks of an agent to others. */
export interface Emptied {
  agent: AgentRow
  /** Ids of the tasks that were moved to other agents. */
  moved: number[]
}

/**
 * Pauses an agent and moves its waiting tasks to other agents. Running tasks finish.
 * @throws agent_not_found, last_agent
 */
export function drainAgent(context: WorkspaceContext, nameOrId: string | number): Emptied {
  return context.store.transaction(() => {
    const agent = workingAgent(context, nameOrId)
    const moved = handOver(context, agent, tasksIn(context, agent.id, waiting))
    context.store.run("UPDATE orch_agents SET state = 'paused' WHERE id = ?", [agent.id])
    if (agent.state === 'active') appendEvent(context, {type: 'agent_paused', agent_id: agent.id})
    return {agent: {...agent, state: 'paused'}, moved}
  })
}

/**
 * Retires an agent. A running task is queued again, and all its tasks move to other agents. Its unread durable messages
 * become dead letters, because a later agent with the same name is a different one.
 * @throws agent_not_found, last_agent
 */
export function retireAgent(context: WorkspaceContext, nameOrId: string | number): Emptied {
  const {store, now} = context
  return store.transaction(() => {
    const agent = workingAgent(context, nameOrId)
    for (const row of tasksIn(context, agent.id, ['InProgress'])) requeueRow(context, row, 'agent_retired')
    store.run("UPDATE orch_agents SET state = 'paused' WHERE id = ?", [agent.id])
    const moved = handOver(context, agent, tasksIn(context, agent.id, waiting))
    store.run("UPDATE orch_agents SET state = 'retired', retired_at_ms = ? WHERE id = ?", [now(), agent.id])
    store.run('DELETE FROM orch_affinity WHERE agent_id = ?', [agent.id])
    notify(context, 'agentRetired', {agentId: agent.id})
    appendEvent(context, {type: 'agent_retired', agent_id: agent.id, name: agent.name})
    return {agent: {...agent, state: 'retired'}, moved}
  })
}

const tasksIn = (
  {store, repositoryId}: WorkspaceContext,
  agentId: number,
  statuses: readonly TaskStatus[],
): TaskRow[] =>
  statuses
    .flatMap((status) =>
      store.all<TaskRow>(`${selectTask} WHERE t.repository_id = ? AND t.status = ? AND t.agent_id = ?`, [
        repositoryId,
        status,
        agentId,
      ]),
    )
    .sort((a, b) => a.id - b.id)

const waiting = ['Queued', 'Blocked', 'BlockedOnApproval'] as const

function handOver(context: WorkspaceContext, agent: AgentRow, tasks: readonly TaskRow[]): number[] {
  if (tasks.length === 0) return []
  const others = workingAgents(context).filter(({id, state}) => id !== agent.id && state === 'active')
  if (others.length === 0)
    throw new SvcError('last_agent', {agent: `${agent.name} (${displayAgent(agent.id)})`, tasks: tasks.length})
  for (const row of tasks) reroute(context, row, agent.id)
  return tasks.map(({id}) => id)
}

/** Routes a waiting task again, excluding the agent that it leaves. */
function reroute(context: WorkspaceContext, row: TaskRow, without: number): void {
  const placement = placeAgain(context, row, without)
  moveToAgent(context, row, placement.agent.id)
  emitPlacement(context, row, placement)
}
