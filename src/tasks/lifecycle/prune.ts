import type {OrchPruneV1} from '../../contracts/index.js'
import type {TaskStatus, WorkspaceContext} from '../../workspace/index.js'
import {listTaskIds} from './task-rows.js'

/** The final states of a task. */
export const finishedStatuses = ['Completed', 'Failed', 'Cancelled'] as const satisfies readonly TaskStatus[]
export type FinishedStatus = (typeof finishedStatuses)[number]

export interface PruneRequest {
  /** Minimum age of the finished tasks to remove, ms. */
  olderThanMs: number
  status?: readonly FinishedStatus[] | undefined
  /** Only counts the tasks that would be removed. */
  dryRun?: boolean | undefined
}

/** Why a finished task is kept: a dependant, its plan, its journey or a command that is still stopping needs it. */
const keptReasons = ['dependency', 'plan', 'journey', 'run'] as const
type KeptReason = (typeof keptReasons)[number]

export type Pruned = OrchPruneV1

/**
 * Removes old finished tasks with their events, output, awards and operations; lineage is kept. Their ids are not
 * reused, and their idempotency keys become free.
 */
export const pruneTasks = (
  context: WorkspaceContext,
  {olderThanMs, status = finishedStatuses, dryRun = false}: PruneRequest,
): Pruned =>
  context.store.transaction(() => {
    const found = listTaskIds(context, {
      status: status.length === 0 ? finishedStatuses : status,
      olderThanMs: context.now() - olderThanMs,
    })
    const kept = keptOf(context, found)
    const removed = found.filter((id) => !kept.has(id))
    if (!dryRun) removeTasks(context, removed)
    const reasons = [...kept.values()]
    const counts = keptReasons.map((reason) => [reason, reasons.filter((each) => each === reason).length])
    return {dry_run: dryRun, removed: removed.length, kept: Object.fromEntries(counts) as Pruned['kept']}
  })

function keptOf({store, repositoryId}: WorkspaceContext, ids: readonly number[]): Map<number, KeptReason> {
  const kept = new Map(
    store
      .all<{id: number; reason: KeptReason}>(
        `SELECT id, reason FROM (
  SELECT t.id, CASE WHEN t.run_process IS NOT NULL THEN 'run'
    WHEN t.id IN (SELECT p.task_id FROM plan_node_tasks p JOIN plan_sessions s ON s.plan_session_id = p.plan_session_id
      WHERE s.status IN ('pending', 'active')) THEN 'plan'
    WHEN t.journey_id IN (SELECT journey_id FROM orch_tasks WHERE repository_id = @repository
      AND status NOT IN ('Completed', 'Failed', 'Cancelled') AND journey_id IS NOT NULL) THEN 'journey' END AS reason
  FROM orch_tasks t WHERE t.id IN (SELECT value FROM json_each(@ids))) WHERE reason IS NOT NULL`,
        {repository: repositoryId, ids: JSON.stringify(ids)},
      )
      .map(({id, reason}) => [id, reason]),
  )
  // A failed task may be retried and then needs its dependencies again. In descending order of ids, it is known whether
  // a task is kept before its dependencies are examined.
  const needs = store.all<{task_id: number; depends_on: number}>(
    `SELECT d.task_id, d.depends_on FROM orch_dependencies d JOIN orch_tasks t ON t.id = d.task_id
WHERE t.repository_id = ? AND t.status NOT IN ('Completed', 'Cancelled') ORDER BY d.task_id DESC`,
    [repositoryId],
  )
  const candidates = new Set(ids)
  const stays = (id: number) => !candidates.has(id) || kept.has(id)
  for (const {task_id: id, depends_on: needed} of needs) if (stays(id) && !stays(needed)) kept.set(needed, 'dependency')
  return kept
}

/** Statements that remove everything that refers to the tasks, then the tasks themselves. */
const removals = [
  'DELETE FROM orch_dependencies WHERE task_id IN (ids) OR depends_on IN (ids)',
  'DELETE FROM orch_locks WHERE task_id IN (ids)',
  'DELETE FROM orch_awards WHERE task_id IN (ids)',
  'DELETE FROM orch_events WHERE task_id IN (ids)',
  'DELETE FROM plan_node_tasks WHERE task_id IN (ids)',
  'UPDATE plan_node_attempts SET task_id = NULL WHERE task_id IN (ids)',
  "DELETE FROM agent_oplog WHERE operation IN ('submit_task', 'reorder_task') AND payload ->> 'task_id' IN (ids)",
  'DELETE FROM question_sessions WHERE CAST(task_id AS INTEGER) IN (ids)',
  'DELETE FROM orch_tasks WHERE id IN (ids)',
].map((sql) => sql.replaceAll('(ids)', '(SELECT value FROM json_each(@ids))'))

function removeTasks({store}: WorkspaceContext, ids: readonly number[]): void {
  for (const sql of removals) store.run(sql, {ids: JSON.stringify(ids)})
}
