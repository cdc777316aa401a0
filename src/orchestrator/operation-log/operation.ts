import type {OrchOperationV1} from '../../contracts/index.js'
import {displayAgent, displayTask, type Priority, type Spawn} from '../../tasks/index.js'

/** What it takes to undo an operation, and to do it again. */
export interface Payloads {
  reorder_task: {task_id: number; from: Priority; to: Priority}
  pause_agent: {agent_id: number; name: string}
  resume_agent: {agent_id: number; name: string}
  /** The agent of the latest time: done again, it is another one of the same name. */
  spawn_agent: {agent_id: number; spawn: Spawn}
  /** The task of the latest time: done again, it is another one. */
  submit_task: {task_id: number; description: string; in_place_of?: number}
}

export type OperationName = keyof Payloads

/** Something that a person did and can take back, as it is printed. */
export type LoggedOperation = OrchOperationV1

/** What was done, in a few words. */
export const summaries: {readonly [K in OperationName]: (payload: Payloads[K]) => string} = {
  reorder_task: ({task_id, from, to}) => `${displayTask(task_id)} made ${to}, once ${from}`,
  pause_agent: ({agent_id, name}) => `${name} (${displayAgent(agent_id)}) paused`,
  resume_agent: ({agent_id, name}) => `${name} (${displayAgent(agent_id)}) resumed`,
  spawn_agent: ({agent_id, spawn}) => `${spawn.name} (${displayAgent(agent_id)}) spawned`,
  submit_task: ({task_id, description, in_place_of: before}) =>
    `${displayTask(task_id)} submitted${before === undefined ? '' : ` in place of ${displayTask(before)}`}: ${description}`,
}
