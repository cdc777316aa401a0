import type {TaskContext} from '../base/context.js'
import type {Task} from '../base/task.js'
import type {ModelChoice} from './choose-model.js'
import {routingReason} from './routing-reason.js'

/** Which model got a piece of work, and what that work was. */
export interface RoutingDecision extends Pick<Task, 'category' | 'complexity'> {
  /** Where the work came from: `orchestrator_ai_task`. */
  surface: string
  choice: ModelChoice
  /** Absent where the work is no task. */
  taskId?: number | undefined
  journeyId?: string | undefined
  sessionId?: string | undefined
}

/** Keeps which model was chosen, and why. */
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
