import {SvcError} from '../../errors/index.js'
import type {ActivityKind} from '../definition/definition.js'
import {execExecutor} from './exec.js'
import {type Executor, localEvent} from './executor.js'
import {httpExecutor} from './http.js'
import {meshExecutor} from './mesh.js'
import {generateExecutor, transcribeExecutor} from './models.js'
import {taskExecutor} from './task.js'
import {approvalExecutor, signalExecutor, timerExecutor} from './waits.js'

/** The activities by kind. */
export const executors: {readonly [K in ActivityKind]: Executor<K>} = {
  value: {type: 'pure', run: ({args: {value}, name}) => ({result: value, event: localEvent(name)})},
  patch: {
    type: 'pure',
    run: ({args: {change, min, max}}) => ({
      result: max,
      event: {
        event: 'WorkflowPatch',
        change_id: change,
        version: max,
        min_supported: min,
        max_supported: max,
        replayed: false,
      },
    }),
  },
  timer: timerExecutor,
  signal: signalExecutor,
  approval: approvalExecutor,
  task: taskExecutor,
  exec: execExecutor,
  http: httpExecutor,
  transcribe: transcribeExecutor,
  generate: generateExecutor,
  mesh: meshExecutor,
}

/** @throws workflow_activity_failed if a recorded version is not supported by the definition any more */
export function checkVersion(
  activity: string,
  version: unknown,
  {change, min, max}: {change: string; min: number; max: number},
): void {
  if (typeof version !== 'number' || version < min || version > max)
    throw new SvcError('workflow_activity_failed', {
      activity,
      reason: `the run has version ${version} of ${change}; the definition supports ${min} to ${max}`,
    })
}
