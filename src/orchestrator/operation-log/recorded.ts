import {
  type AgentRow,
  type Priority,
  setPaused as pause,
  priorities,
  reorderTask as reorder,
  requireRow,
  type Spawn,
  spawnAgent as spawn,
  type Task,
  type TaskContext,
  workingAgent,
} from '../../tasks/index.js'

import {logOperation} from './operation-rows.js'

/*
 * What a person does to tasks and agents, written into the log so that it can be undone. Inside this module the functions
 * behind these are called: what routing, scaling or a plan does is nobody's to take back.
 */

/** @throws as the operation behind it */
export function reorderTask(context: TaskContext, id: number, priority: Priority): Task {
  return context.store.transaction(() => {
    const from = priorities[requireRow(context, id).priority]
    const task = reorder(context, id, priority)
    if (from !== priority) logOperation(context, 'reorder_task', {task_id: id, from, to: priority})
    return task
  })
}

/** @throws as the operation behind it */
export function setPaused(context: TaskContext, nameOrId: string | number, paused: boolean): AgentRow {
  return context.store.transaction(() => {
    const {id, name, state} = workingAgent(context, nameOrId)
    const agent = pause(context, id, paused)
    if (agent.state !== state) logOperation(context, paused ? 'pause_agent' : 'resume_agent', {agent_id: id, name})
    return agent
  })
}

/** @throws as the operation behind it */
export function spawnAgent(context: TaskContext, asked: Spawn): AgentRow {
  return context.store.transaction(() => {
    const agent = spawn(context, asked)
    logOperation(context, 'spawn_agent', {agent_id: agent.id, spawn: {...asked, name: agent.name}})
    return agent
  })
}
