import type {TaskContext} from '../base/context.js'
import type {Task} from '../base/task.js'
import type {ModelChoice} from './choose-model.js'
import {routingReason} from './routing-reason.js'

/** The model chosen for a piece of work, and the work. */
export interface RoutingDecision extends Pick<Task, 'category' | 'complexity'> {
  /** The origin of the work: `orchestrator_ai_task`. */
  surface: string
  choice: ModelChoice
  /** Absent if the work is not a task. */
  taskId?: number | undefined
  journeyId?: string | undefined
  sessionId?: string | undefined
}

/** Records which model was chosen, and why. */
export function recordRoutingDecision(
  {store, repositoryId, config}: TaskContext,
  {surface, choice, taskId: id, journeyId, sessionId, category, complexity}: RoutingDecision,
): void {
  store.run(
    `INSERT INTO routing_decisions (journey_id, repository_id, session_id, surface, model_id, reason_json)
VALUES (?, ?, ?, ?, ?, ?)`,
    [
      journeyId ?? null,
      repositoryId,
      sessionId ?? null,
      surface,
      choice.model,
      JSON.stringify(routingReason({id, category, complexity}, choice, config)),
    ],
  )
}
