import type {OrchOperationV1} from '../../contracts/index.js'
import {displayAgent, displayTask, type Spawn} from '../../tasks/index.js'
import type {Priority} from '../../workspace/index.js'

/** The data required to undo and redo each operation. */
export interface Payloads {
  reorder_task: {task_id: number; from: Priority; to: Priority}
  pause_agent: {agent_id: number; name: string}
  resume_agent: {agent_id: number; name: string}
  /** The current agent: a redo creates another one with the same name. */
  spawn_agent: {agent_id: number; spawn: Spawn}
  /** The current task: a redo creates another one. */
  submit_task: {task_id: number; description: string; in_place_of?: number}
}

export type OperationName = keyof Payloads

/** A reversible operation of a person, as published. */
export type LoggedOperation = OrchOperationV1

/** Short descriptions of operations. */
export const summaries: {readonly [K in OperationName]: (payload: Payloads[K]) => string} = {
  reorder_task: ({task_id, from, to}) => `${displayTask(task_id)} priority changed from ${from} to ${to}`,
  pause_agent: ({agent_id, name}) => `${name} (${displayAgent(agent_id)}) paused`,
  resume_agent: ({agent_id, name}) => `${name} (${displayAgent(agent_id)}) resumed`,
  spawn_agent: ({agent_id, spawn}) => `${spawn.name} (${displayAgent(agent_id)}) spawned`,
  submit_task: ({task_id, description, in_place_of: before}) =>
    `${displayTask(task_id)} submitted${before === undefined ? '' : ` in place of ${displayTask(before)}`}: ${description}`,
}
