import {randomUUID} from 'node:crypto'
import {type PlacementReason, priorities, type TaskStatus, type WorkspaceContext} from '../../workspace/index.js'
import type {SubmissionReview} from '../attention/review.js'
import {mayDelegate} from '../base/may-delegate.js'
import {firstGeneration} from '../base/restored.js'
import {personRequired} from '../lifecycle/change.js'
import {writeDependencies} from '../lifecycle/dependencies.js'
import type {Placement} from '../routing/place.js'
import type {NewTask} from './submission.js'
import {recordTestDecision} from './test-decision.js'

export interface InsertedTask {
  id: number
  uid: string
  status: TaskStatus
  agent_id: number
  placement_reason: PlacementReason
  trace_id: string
}

interface Placed {
  placement: Placement
  dependsOn: readonly number[]
  /** Dependencies that are not completed. */
  open: readonly number[]
  review: SubmissionReview | undefined
}

/** Inserts a task with its dependencies. */
export function insertTask(
  context: WorkspaceContext,
  task: NewTask,
  {placement, dependsOn, open, review}: Placed,
): InsertedTask {
  const {store, repositoryId, now} = context
  const uid = randomUUID()
  const status = review?.parked === undefined ? firstStatus(task, open) : 'BlockedOnApproval'
  const at = now()
  const {lastInsertRowid} = store.run(
    `INSERT INTO orch_tasks (uid, repository_id, idempotency_key, status, blocked_on, unmet_dependencies, agent_id, priority,
  complexity, category, phase_label, execution_role, processor, description, file_manifest, request, journey_id, session_id,
  thread_id, trace_id, correlation_id, tenant_id, campaign_id, placement_reason, start_after_ms, created_at_ms, updated_at_ms,
  status_reason, approval_tier, attention_weight, delegation, claim_generation)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${firstGeneration})`,
    [
      uid,
      repositoryId,
      task.idempotency_key ?? null,
      status,
      status === 'Blocked' ? (open.at(-1) ?? null) : null,
      open.length,
      placement.agent.id,
      priorities.indexOf(task.priority),
      task.complexity,
      task.category,
      task.phase_label,
      task.execution_role ?? null,
      task.processor,
      task.description,
      JSON.stringify(task.file_manifest),
      JSON.stringify({...task.request, depends_on: dependsOn}),
      task.journey_id ?? null,
      task.session_id ?? null,
      task.thread_id ?? null,
      task.trace_id,
      task.correlation_id ?? null,
      task.tenant_id ?? null,
      task.campaign_id ?? null,
      placement.reason,
      task.not_before_ms ?? null,
      at,
      at,
      review?.parked === undefined ? null : personRequired(review.parked),
      review?.tier ?? null,
      review?.weight ?? null,
      mayDelegate(context.config, task) ? 'open' : null,
    ],
  )
  const id = Number(lastInsertRowid)
  writeDependencies(context, id, dependsOn, open)
  recordTestDecision(context, id, {...task, files: task.file_manifest})
  review?.record(id)
  return {
    id,
    uid,
    status,
    agent_id: placement.agent.id,
    placement_reason: placement.reason,
    trace_id: task.trace_id,
  }
}

/** A task that requires approval waits for it first; a task with open dependencies is blocked. */
function firstStatus(task: NewTask, open: readonly number[]): TaskStatus {
  if (task.request.requires_approval === true) return 'BlockedOnApproval'
  return open.length > 0 ? 'Blocked' : 'Queued'
}
