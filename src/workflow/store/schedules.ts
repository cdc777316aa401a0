import type {WorkspaceContext} from '../../workspace/index.js'

/** A schedule of a workflow in a file. */
export interface ScheduleKey {
  readonly file: string
  readonly workflow: string
  /** Identifies the times. */
  readonly schedule: string
}

/** Beginning of the ids of the runs that a schedule has started. */
export const scheduledRuns = (workflow: string): string => `cron-${workflow}-`

/** The next time without a run, Unix ms; undefined for a new or changed schedule. */
export const dueTime = (
  {store, repositoryId}: WorkspaceContext,
  {file, workflow, schedule}: ScheduleKey,
): number | undefined =>
  store.get<{due_at_ms: number}>(
    `SELECT due_at_ms FROM workflow_schedules
WHERE repository_id = ? AND source_path = ? AND workflow_name = ? AND schedule = ?`,
    [repositoryId, file, workflow, schedule],
  )?.due_at_ms

export function setDueTime(
  {store, repositoryId}: WorkspaceContext,
  {file, workflow, schedule}: ScheduleKey,
  dueMs: number,
): void {
  store.run(
    `INSERT INTO workflow_schedules (repository_id, source_path, workflow_name, schedule, due_at_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET schedule = excluded.schedule, due_at_ms = excluded.due_at_ms`,
    [repositoryId, file, workflow, schedule, dueMs],
  )
}
