import {
  type AgentRow,
  setPaused as pause,
  reorderTask as reorder,
  requireRow,
  type Spawn,
  spawnAgent as spawn,
  type Task,
  workingAgent,
} from '../../tasks/index.js'
import {type Priority, priorities, type WorkspaceContext} from '../../workspace/index.js'

import {logOperation} from './operation-rows.js'

/*
 * Operations of a person on tasks and agents, logged so that they can be undone. Other modules call the underlying
 * functions directly: the actions of routing, scaling and plans cannot be undone.
 */

/** @throws as the underlying operation */
export function reorderTask(context: WorkspaceContext, id: number, priority: Priority): Task {
  return context.store.transaction(() => {
    const from = priorities[requireRow(context, id).priority]
    const task = reorder(context, id, priority)
    if (from !== priority) logOperation(context, 'reorder_task', {task_id: id, from, to: priority})
    return task
  })
}

/** @throws as the underlying operation */
export function setPaused(context: WorkspaceContext, nameOrId: string | number, paused: boolean): AgentRow {
  return context.store.transaction(() => {
    const {id, name, state} = workingAgent(context, nameOrId)
    const agent = pause(context, id, paused)
    if (agent.state !== state) logOperation(context, paused ? 'pause_agent' : 'resume_agent', {agent_id: id, name})
    return agent
  })
}

/** @throws as the underlying operation */
export function spawnAgent(context: WorkspaceContext, asked: Spawn): AgentRow {
  return context.store.transaction(() => {
    const agent = spawn(context, asked)
    logOperation(context, 'spawn_agent', {agent_id: agent.id, spawn: {...asked, name: agent.name}})
    return agent
  })
}
