import {cancelTask, finishedStatuses, requireTask, submitTask, type Task} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {type ActivityKey, recordTask, tasksOfRun} from '../store/activities.js'
import {type Executor, localEvent} from './executor.js'
import {failed} from './waits.js'

/**
 * Submits a task, and waits until it has ended. The id of the activity makes the submission idempotent. A task that its
 * activity no longer waits for is cancelled: see `withdrawTasks`.
 */
export const taskExecutor: Executor<'task'> = {
  type: 'wait',
  begin({context, args, key, attempt}) {
    const idempotency_key = `workflow:${key.runId}:${key.activityId}:${attempt}`
    const {task_id} = submitTask(context, {...args, idempotency_key})
    recordTask(context, key, task_id)
  },
  isReady: (call) => hasEnded(taskOf(call)),
  finish(call) {
    const {id, display_id, status, status_reason: reason, result} = taskOf(call)
    const {name} = call
    if (status !== 'Completed')
      return {failure: failed(name, `${display_id} ended as ${status}${reason ? `: ${reason}` : ''}`)}
    return {result: {task_id: id, display_id, status, result: result ?? null}, event: localEvent(name)}
  },
  // Only finished tasks are deleted, so that a missing one has nothing to wait for, and may have begun.
  isWithdrawn(call) {
    const task = findTask(call)
    return task === undefined || task.status_reason?.startsWith(withdrawnPrefix) === true
  },
  hasBegun: (call) => {
    const task = findTask(call)
    return task === undefined || task.started_at_ms !== undefined
  },
}

/**
 * Cancels the unfinished tasks of a run, or of one activity, in the transaction that ends what they were for. A client
 * that has claimed such a task receives an error at its next heartbeat.
 */
export function withdrawTasks(context: WorkspaceContext, runId: string, reason: string, activityId?: string): void {
  for (const id of tasksOfRun(context, runId, activityId))
    if (!hasEnded(requireTask(context, id)))
      cancelTask(context, id, {reason: `${withdrawnPrefix}${reason}`, by: 'agent'})
}

const withdrawnPrefix = 'withdrawn: '

const ended: ReadonlySet<string> = new Set(finishedStatuses)

const hasEnded = ({status}: Task): boolean => ended.has(status)

interface Waiting {
  context: WorkspaceContext
  key: ActivityKey
}

/** The task that an activity waits for; undefined if it was deleted. */
function findTask({context, key: {runId, activityId}}: Waiting): Task | undefined {
  const [id] = tasksOfRun(context, runId, activityId)
  return id === undefined ? undefined : requireTask(context, id)
}

function taskOf(waiting: Waiting): Task {
  return findTask(waiting) ?? requireTask(waiting.context, 0)
}
