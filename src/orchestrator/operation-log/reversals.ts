import {counted} from '../../errors/index.js'
import {countUnread, type MessageContext} from '../../messages/index.js'
import {nodeOfTask} from '../../plans/index.js'
import {
  type AgentRow,
  agentRows,
  cancelRow,
  displayAgent,
  displayTask,
  reorderTask,
  requireRow,
  retireAgent,
  setPaused,
  spawnAgent,
  submitTask,
  type TaskRow,
} from '../../tasks/index.js'
import {type Priority, priorities} from '../../workspace/index.js'

import type {OperationName, Payloads} from './operation.js'
import {submissionOf} from './submission-of.js'

/** The state has changed in the meantime; the reason continues "it cannot be undone". */
export class Changed extends Error {
  override readonly name = 'Changed'
}

/**
 * How an operation is undone and redone. Both first check that the state is as the operation, or its undo, left it, and
 * return the payload for the next reversal.
 */
interface Reversal<P> {
  /** @throws Changed, and the errors of the underlying operations */
  undo(context: MessageContext, payload: P): P
  redo(context: MessageContext, payload: P): P
}

export const reversals: {readonly [K in OperationName]: Reversal<Payloads[K]>} = {
  reorder_task: {
    undo: (context, payload) => reorder(context, payload, {is: payload.to, shall: payload.from}),
    redo: (context, payload) => reorder(context, payload, {is: payload.from, shall: payload.to}),
  },
  pause_agent: {
    undo: (context, payload) => turn(context, payload, 'active'),
    redo: (context, payload) => turn(context, payload, 'paused'),
  },
  resume_agent: {
    undo: (context, payload) => turn(context, payload, 'paused'),
    redo: (context, payload) => turn(context, payload, 'active'),
  },
  spawn_agent: {
    undo(context, payload) {
      const {id, name} = requireThere(context, payload.agent_id)
      const tasks = openTasks(context, id)
      if (tasks > 0) throw new Changed(`${name} (${displayAgent(id)}) now has ${counted(tasks, 'task')}`)
      const unread = countUnread(context, id)
      if (unread > 0) throw new Changed(`${name} (${displayAgent(id)}) now has ${unread} unread messages`)
      retireAgent(context, id)
      return payload
    },
    redo: (context, {spawn}) => ({agent_id: spawnAgent(context, spawn).id, spawn}),
  },
  submit_task: {
    undo(context, payload) {
      const row = requireRow(context, payload.task_id)
      refusePlanned(context, row)
      refuseStarted(row)
      refuseAwaited(context, row)
      cancelRow(context, row, {reason: 'undone'})
      return payload
    },
    redo(context, {task_id, description}) {
      const row = requireRow(context, task_id)
      const {task_id: id} = submitTask(context, submissionOf(context, row))
      return {task_id: id, description, in_place_of: task_id}
    },
  },
}

function reorder(
  context: MessageContext,
  payload: Payloads['reorder_task'],
  {is, shall}: {is: Priority; shall: Priority},
): Payloads['reorder_task'] {
  const {task_id: id} = payload
  const row = requireRow(context, id)
  if (!waiting.includes(row.status)) throw new Changed(`${displayTask(id)} is now ${row.status}`)
  const priority = priorities[row.priority]
  if (priority !== is) throw new Changed(`${displayTask(id)} is now ${priority}`)
  reorderTask(context, id, shall)
  return payload
}

function turn<P extends Payloads['pause_agent']>(context: MessageContext, payload: P, to: 'active' | 'paused'): P {
  const {id, name, state} = requireThere(context, payload.agent_id)
  if (state === to) throw new Changed(`${name} (${displayAgent(id)}) is ${state} already`)
  setPaused(context, id, to === 'paused')
  return payload
}

function requireThere(context: MessageContext, id: number): AgentRow {
  const agent = agentRows(context).find((row) => row.id === id)
  if (agent === undefined) throw new Changed(`${displayAgent(id)} has been retired`)
  return agent
}

/** Unfinished tasks of an agent, including its doubted ones. */
const openTasks = ({store}: MessageContext, agentId: number): number =>
  store.get<{tasks: number}>(
    `SELECT count(*) AS tasks FROM orch_tasks WHERE (agent_id = ? OR doubted_agent_id = ?)
  AND status NOT IN ('Completed', 'Failed', 'Cancelled')`,
    [agentId, agentId],
  )?.tasks ?? 0

const waiting: readonly TaskRow['status'][] = ['Queued', 'Blocked', 'BlockedOnApproval']

function refuseStarted({id, status, started_at_ms: started}: TaskRow): void {
  if (!waiting.includes(status)) throw new Changed(`${displayTask(id)} is now ${status}`)
  if (started !== null) throw new Changed(`${displayTask(id)} has already started`)
}

/** Refuses a task of a plan: submitted again, it would not be linked to its step, which would wait for the old task. */
function refusePlanned(context: MessageContext, {id}: TaskRow): void {
  const node = nodeOfTask(context, id)
  if (node !== undefined)
    throw new Changed(`${displayTask(id)} belongs to step ${node.node_id} of ${node.plan_session_id}`)
}

/** Refuses a task with dependants, which would fail with it. */
function refuseAwaited({store}: MessageContext, {id}: TaskRow): void {
  const other = store.get<{task_id: number}>(
    `SELECT d.task_id FROM orch_dependencies d JOIN orch_tasks t ON t.id = d.task_id
WHERE d.depends_on = ? AND t.status NOT IN ('Completed', 'Failed', 'Cancelled') ORDER BY d.task_id LIMIT 1`,
    [id],
  )
  if (other !== undefined) throw new Changed(`${displayTask(other.task_id)} depends on ${displayTask(id)}`)
}
