import {SvcError} from '../../errors/index.js'
import {requireTask, submitTask} from '../../tasks/index.js'
import {recordTask, startedAtMs} from '../store/activities.js'
import {consumeSignal, hasSignal} from '../store/signals.js'
import {type Call, type Executor, localEvent} from './executor.js'

/** Waits for a time. The time counts from the first start of the activity, so that an interruption does not prolong it. */
export const timerExecutor: Executor<'timer'> = {
  type: 'wait',
  wakeAtMs: (call) => startedAtMs(call.context, call.key) + call.args.ms,
  isReady: (call) => call.context.now() >= startedAtMs(call.context, call.key) + call.args.ms,
  finish({context, key}) {
    const waited = Math.max(0, context.now() - startedAtMs(context, key))
    return {result: {waited_ms: waited}, event: {event: 'TimerWaitCompleted', waited_ms: waited}}
  },
}

/** Waits for a signal, whose payload is the result. */
export const signalExecutor: Executor<'signal'> = {
  type: 'wait',
  isReady: ({context, key, args}) => hasSignal(context, key.runId, args.key),
  finish: ({context, key, args}) => ({
    result: consumeSignal(context, key.runId, args.key)?.payload ?? null,
    event: {event: 'SignalWaitSatisfied', signal_key: args.key},
  }),
}

/** Waits for the decision of a person, a signal with the id of the step. */
export const approvalExecutor: Executor<'approval'> = {
  type: 'wait',
  isReady: ({context, key, args}) => hasSignal(context, key.runId, args.key),
  finish({context, key, args, name}) {
    const payload = consumeSignal(context, key.runId, args.key)?.payload ?? null
    const decision = typeof payload === 'object' && payload !== null ? payload : {}
    const {approved = payload !== false, reason} = decision as {approved?: boolean; reason?: string}
    if (!approved) return {failure: failed(name, `rejected${reason ? `: ${reason}` : ''}`)}
    return {
      result: {approved: true, ...(reason === undefined ? {} : {reason})},
      event: {event: 'SignalWaitSatisfied', signal_key: args.key},
    }
  },
}

/** Submits a task, and waits until it has ended. The id of the activity makes the submission idempotent. */
export const taskExecutor: Executor<'task'> = {
  type: 'wait',
  begin({context, args, key, attempt}) {
    const idempotency_key = `workflow:${key.runId}:${key.activityId}:${attempt}`
    const {task_id} = submitTask(context, {...args, idempotency_key})
    recordTask(context, key, task_id)
  },
  isReady: (call) => ended.has(taskOf(call).status),
  finish(call) {
    const {id, display_id, status, status_reason: reason, result} = taskOf(call)
    const {name} = call
    if (status !== 'Completed')
      return {failure: failed(name, `${display_id} ended as ${status}${reason ? `: ${reason}` : ''}`)}
    return {result: {task_id: id, display_id, status, result: result ?? null}, event: localEvent(name)}
  },
}

const failed = (activity: string, reason: string) => new SvcError('workflow_activity_failed', {activity, reason})

const ended: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Cancelled'])

function taskOf({context, key: {runId, activityId}}: Call<'task'>) {
  const row = context.store.get<{task_id: number}>(
    "SELECT task_id FROM workflow_activity_log WHERE run_id = ? AND activity_id = ? AND status = 'started'",
    [runId, activityId],
  )
  return requireTask(context, row?.task_id ?? 0)
}
