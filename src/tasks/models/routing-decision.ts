import {withoutUndefined} from '../../contracts/index.js'
import type {ModelChoice} from '../../inference-client/index.js'
import {recordWork} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
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
  context: WorkspaceContext,
  {surface, choice, taskId: id, journeyId, sessionId, category, complexity}: RoutingDecision,
): void {
  const {store, repositoryId, config} = context
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
  recordWork(context, 'model_route_event', {
    details: {
      surface,
      model: choice.model,
      category,
      complexity,
      is_fallback: choice.fallback,
      ...withoutUndefined({task_id: id, session_id: sessionId}),
    },
  })
}
