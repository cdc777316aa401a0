import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'

export type LineageKind = 'task_submitted' | 'task_completed' | 'task_failed' | 'task_delegated' | 'planning_routed'
export type PlanLineageKind =
  | 'plan_session_created'
  | 'plan_replan_triggered'
  | 'planning_routed'
  | 'workflow_handoff_started'

type Subject = Pick<Task, 'id' | 'agent_id' | 'session_id' | 'journey_id' | 'thread_id' | 'trace_id' | 'correlation_id'>

/** Records a task event, with its plan, in the long-term lineage; does nothing if lineage is off. */
export function appendLineage(context: WorkspaceContext, kind: LineageKind, task: Subject, facts: object = {}): void {
  const {store, repositoryId, now, config} = context
  if (config.lineageOff) return
  const {id, agent_id, session_id, journey_id, thread_id, trace_id, correlation_id} = task
  store.run(
    `INSERT INTO orchestration_lineage_events (repository_id, kind, task_id, agent_id, session_id, plan_session_id,
  plan_node_id, payload_json, created_at_ms)
VALUES (@repository, @kind, @task, @agent, @session, (SELECT plan_session_id FROM plan_node_tasks WHERE task_id = @task),
  (SELECT node_id FROM plan_node_tasks WHERE task_id = @task), @payload, @at)`,
    {
      repository: repositoryId,
      kind,
      task: id,
      agent: agent_id,
      session: session_id ?? null,
      payload: JSON.stringify({journey_id, thread_id, trace_id, correlation_id, ...facts}),
      at: now(),
    },
  )
}

/** Adds the plan of a task to its submission record, which has already been written. */
export function linkLineage(
  {store, repositoryId}: WorkspaceContext,
  taskId: number,
  {plan_session_id, node_id}: {plan_session_id: string; node_id: string},
): void {
  store.run(
    `UPDATE orchestration_lineage_events SET plan_session_id = ?, plan_node_id = ?
WHERE repository_id = ? AND task_id = ?`,
    [plan_session_id, node_id, repositoryId, taskId],
  )
}

/** Placeholder for records without a task: task ids start at 1. */
const noTask = 0

/** Records a plan event in the long-term lineage; does nothing if lineage is off. */
export function appendPlanLineage(
  {store, repositoryId, now, config}: WorkspaceContext,
  kind: PlanLineageKind,
  {plan_session_id, origin_session_id}: {plan_session_id: string; origin_session_id: string | null},
  facts: object,
  taskId = noTask,
): void {
  if (config.lineageOff) return
  store.run(
    `INSERT INTO orchestration_lineage_events (repository_id, kind, task_id, session_id, plan_session_id, payload_json,
  created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [repositoryId, kind, taskId, origin_session_id, plan_session_id, JSON.stringify(facts), now()],
  )
}
