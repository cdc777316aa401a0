import {SvcError} from '../../errors/index.js'
import {type OperationBase, openQuestionOf} from '../../operations/index.js'
import type {Task} from '../../tasks/index.js'
import {type Envelope, failure, success} from '../envelope.js'
import type {TaskState} from './state.js'

/** The orchestrator task with this uid; undefined if it does not exist. */
export function findSubmitted(base: OperationBase, uid: string): TaskState | undefined {
  const task = base.modules.tasks.taskWithUid(base.orchestrator, uid)
  return task === undefined ? undefined : toState(base, task)
}

/** A page of the orchestrator tasks, newest first. @param beforeId only tasks with a smaller id */
export function listSubmitted(base: OperationBase, {limit, beforeId}: {limit: number; beforeId?: number}) {
  const tasks = base.modules.tasks.listTasks(base.orchestrator, {
    limit,
    ...(beforeId === undefined ? {} : {beforeId}),
  })
  return {states: tasks.map((task) => toState(base, task)), lastId: tasks.at(-1)?.id}
}

/** @throws invalid_transition */
export function cancelSubmitted({modules, orchestrator}: OperationBase, uid: string): void {
  const task = modules.tasks.taskWithUid(orchestrator, uid)
  if (task !== undefined) modules.tasks.cancelTask(orchestrator, task.id, {by: 'agent'})
}

function toState(base: OperationBase, task: Task): TaskState {
  const {uid, display_id, status: label, status_reason: reason, created_at_ms, updated_at_ms} = task
  const question = openQuestionOf(base, task)
  const outcome = outcomeOf(task)
  return {
    id: uid,
    status: statusOf(label),
    message: `${display_id} is ${label}${reason === undefined ? '' : `: ${reason}`}.`,
    createdMs: created_at_ms,
    updatedMs: updated_at_ms,
    ttlMs: null,
    ...(outcome === undefined ? {} : {outcome}),
    ...(question === undefined ? {} : {question}),
  }
}

function statusOf(label: Task['status']): TaskState['status'] {
  switch (label) {
    case 'BlockedOnApproval':
    case 'Doubted':
      return 'input_required'
    case 'Completed':
      return 'completed'
    case 'Failed':
      return 'failed'
    case 'Cancelled':
      return 'cancelled'
    default:
      return 'working'
  }
}

/** What the tool would have returned if it had waited for the task. */
function outcomeOf({
  uid,
  id,
  display_id,
  agent_id,
  agent_name,
  status,
  status_reason,
  result,
}: Task): Envelope | undefined {
  const data = {task_id: id, display_id, uid, agent_id, agent_name, status}
  if (status === 'Completed') return success({data: {...data, ...(result === undefined ? {} : {result})}})
  if (status === 'Failed')
    return failure({error: new SvcError('mcp_task_failed', {task: display_id, reason: status_reason ?? 'no reason'})})
  if (status === 'Cancelled') return failure({error: new SvcError('mcp_task_cancelled', {id: display_id})})
  return undefined
}
