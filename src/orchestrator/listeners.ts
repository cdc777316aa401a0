import type {OrchestratorContext} from './context.js'
import type {TaskStatus} from './vocabulary.js'

/** Changes of tasks and agents that other modules act on. */
export interface TaskChangeEvents {
  /** A task has another status. @property isRestored it ended before, and a doubt about it is settled */
  taskMoved: {taskId: number; status: TaskStatus; reason: string | undefined; isRestored: boolean}
  /** A task has ended, and what waits for it is settled. @property failure why, where it failed in a run */
  taskEnded: {taskId: number; failure?: string}
  /** A task that has ended is about to be queued again; a listener that throws prevents it. */
  taskReopening: {taskId: number}
  agentRetired: {agentId: number}
}

/** Handlers are called in the transaction of the change, so that both are stored or neither. */
export type TaskListener = {
  readonly [E in keyof TaskChangeEvents]?: (context: OrchestratorContext, event: TaskChangeEvents[E]) => void
}

export function notify<E extends keyof TaskChangeEvents>(
  context: OrchestratorContext,
  name: E,
  event: TaskChangeEvents[E],
): void {
  for (const listener of context.listeners) listener[name]?.(context, event)
}
