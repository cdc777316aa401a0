import {SvcError} from '../../errors/index.js'
import {startedAtMs} from '../store/activities.js'
import {consumeSignal, decisionOf, hasSignal} from '../store/signals.js'
import type {Executor} from './executor.js'

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
    const {approved, reason} = decisionOf(consumeSignal(context, key.runId, args.key)?.payload ?? null)
    if (!approved) return {failure: failed(name, `rejected${reason ? `: ${reason}` : ''}`)}
    return {
      result: {approved: true, ...(reason === undefined ? {} : {reason})},
      event: {event: 'SignalWaitSatisfied', signal_key: args.key},
    }
  },
}

export const failed = (activity: string, reason: string) => new SvcError('workflow_activity_failed', {activity, reason})
