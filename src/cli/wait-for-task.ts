import {SvcError} from '../errors/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Task} from '../tasks/index.js'
import {stopped} from './interruption.js'
import {readings} from './store-changes.js'

const ends: ReadonlySet<string> = new Set(['Completed', 'Failed', 'Cancelled'])

export interface Waiting {
  signal: AbortSignal
  /** Timeout, counted from a time of `performance.now()`. */
  limit?: {seconds: number; fromMs: number} | undefined
  /** Called with each new state of the unfinished task. */
  show: (task: Task) => void
}

/**
 * Waits until a task is finished. Doubted tasks and tasks without approval are not finished.
 * @param look reads the task
 * @throws task_wait_timeout, wait_interrupted, wait_terminated; any other abort reason of the signal
 */
export async function waitForTask(
  orchestrator: Orchestrator,
  look: () => Task,
  {signal, limit, show}: Waiting,
): Promise<Task> {
  const {forwardAbort, startTimer} = await import('../process/index.js')
  const stop = new AbortController()
  const abort = () => stop.abort()
  const stopListening = forwardAbort(signal, stop)
  const timer = limit === undefined ? undefined : startTimer(abort, limit.seconds * 1000 - sinceMs(limit.fromMs))
  try {
    for await (const task of readings(orchestrator, look, stop.signal)) {
      if (ends.has(task.status)) return task
      show(task)
    }
  } finally {
    timer?.stop()
    stopListening()
  }
  const last = look()
  if (ends.has(last.status)) return last
  const {display_id: task, status} = last
  if (signal.aborted) throw stopped(signal.reason, 'wait', {task, status})
  throw new SvcError('task_wait_timeout', {task, status, seconds: limit?.seconds ?? 0})
}

/** The error of a finished task that was not completed. */
export const notCompleted = ({display_id: task, status, status_reason: reason = ''}: Task): SvcError =>
  new SvcError('task_not_successful', {task, status, reason: reason.replace(/\.$/, '')})

const sinceMs = (fromMs: number) => performance.now() - fromMs
