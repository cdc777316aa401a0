import type {WorkspaceContext} from '../../workspace/index.js'

/** A step of a run in the tables: an activity id belongs to one run. */
export interface ActivityKey {
  readonly runId: string
  readonly workflow: string
  readonly activityId: string
}

/** The recorded result of an activity. */
export interface Recorded {
  readonly seq: number
  /** Null if the activity was skipped. */
  readonly result_json: string | null
}

/** The recorded results of a run by activity id, in the order in which the activities were completed. */
export function recordedResults({store}: WorkspaceContext, runId: string): Map<string, Recorded> {
  const rows = store.all<Recorded & {activity_id: string}>(
    "SELECT seq, activity_id, result_json FROM workflow_activity_log WHERE run_id = ? AND status = 'completed' ORDER BY seq",
    [runId],
  )
  return new Map(rows.map((row) => [row.activity_id, row]))
}

/** The position of the latest activity of a run, from which the process that holds its lease counts; 0 if it has none. */
export const lastSeq = ({store}: WorkspaceContext, runId: string): number =>
  store.get<{seq: number}>('SELECT coalesce(max(seq), 0) AS seq FROM workflow_activity_log WHERE run_id = ?', [runId])
    ?.seq ?? 0

/** What an activity waits for, as status reports show it. */
export interface WaitingNote {
  readonly signal_key?: string | undefined
  readonly prompt?: string | undefined
}

/** Records that an activity has started; no effect if it had started before. */
export function recordStarted(
  {store, now}: WorkspaceContext,
  {runId, workflow, activityId}: ActivityKey,
  {seq, name, note}: {seq: number; name: string; note: WaitingNote | undefined},
): void {
  store.run(
    `INSERT INTO workflow_activity_log (run_id, workflow_name, activity_id, status, seq, activity_name, result_json,
  recorded_at_ms) VALUES (?, ?, ?, 'started', ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [runId, workflow, activityId, seq, name, note === undefined ? null : JSON.stringify(note), now()],
  )
}

/** When an activity started first, Unix ms: a timer counts from then. */
export const startedAtMs = ({store, now}: WorkspaceContext, {runId, workflow, activityId}: ActivityKey): number =>
  store.get<{recorded_at_ms: number}>(
    `SELECT recorded_at_ms FROM workflow_activity_log
WHERE run_id = ? AND workflow_name = ? AND activity_id = ? AND status = 'started'`,
    [runId, workflow, activityId],
  )?.recorded_at_ms ?? now()

/** When an attempt started, Unix ms. */
export const attemptStartedAtMs = (
  {store, now}: WorkspaceContext,
  {runId, workflow, activityId}: ActivityKey,
  attempt: number,
): number =>
  store.get<{recorded_at_ms: number}>(
    `SELECT recorded_at_ms FROM workflow_activity_attempt_log
WHERE run_id = ? AND workflow_name = ? AND activity_id = ? AND attempt_no = ? AND status = 'started'`,
    [runId, workflow, activityId, attempt],
  )?.recorded_at_ms ?? now()

/** Connects an activity with the task that it waits for. */
export function recordTask(
  {store}: WorkspaceContext,
  {runId, workflow, activityId}: ActivityKey,
  taskId: number,
): void {
  store.run(
    `UPDATE workflow_activity_log SET task_id = ?
WHERE run_id = ? AND workflow_name = ? AND activity_id = ? AND status = 'started'`,
    [taskId, runId, workflow, activityId],
  )
}

/** The latest task of each activity of a run, or of one, that has no result yet and was not deleted. */
export const tasksOfRun = ({store}: WorkspaceContext, runId: string, activityId?: string): number[] =>
  store
    .all<{task_id: number}>(
      `SELECT task_id FROM workflow_activity_log AS s WHERE run_id = @run AND status = 'started' AND task_id IS NOT NULL
  AND (@activity IS NULL OR activity_id = @activity) AND EXISTS (SELECT 1 FROM orch_tasks AS t WHERE t.id = s.task_id)
  AND NOT EXISTS (SELECT 1 FROM workflow_activity_log AS c WHERE c.run_id = s.run_id
    AND c.workflow_name = s.workflow_name AND c.activity_id = s.activity_id AND c.status = 'completed')
ORDER BY seq DESC`,
      {run: runId, activity: activityId ?? null},
    )
    .map(({task_id}) => task_id)

/** The runs that wait for a task. */
export const runsOfTask = ({store}: WorkspaceContext, taskId: number): string[] =>
  store
    .all<{run_id: string}>('SELECT run_id FROM workflow_activity_log WHERE task_id = ?', [taskId])
    .map(({run_id}) => run_id)

/** Records the result of an activity. @param attempt that succeeded; undefined if nothing was attempted */
export function recordCompleted(
  {store, now}: WorkspaceContext,
  {runId, workflow, activityId}: ActivityKey,
  {seq, name, json, attempt}: {seq: number; name: string; json: string | null; attempt?: number | undefined},
): Recorded {
  store.run(
    `INSERT INTO workflow_activity_log (run_id, workflow_name, activity_id, status, seq, activity_name, result_json,
  attempt_no, recorded_at_ms) VALUES (?, ?, ?, 'completed', ?, ?, ?, ?, ?)`,
    [runId, workflow, activityId, seq, name, json, attempt ?? null, now()],
  )
  return {seq, result_json: json}
}

/** The start or the failure of an attempt; the one that succeeds is part of the result. */
export interface AttemptEnd {
  readonly attempt: number
  readonly status: 'started' | 'failed'
  readonly owner?: string | undefined
  readonly leaseUntilMs?: number | undefined
  readonly error?: string | undefined
  readonly output?: ProgramOutput | undefined
}

/** What a program printed, with its exit status; null if a signal ended it. */
export interface ProgramOutput {
  readonly exit_code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The middle of the output is missing. */
  readonly truncated?: true
  /** Files with all of it. */
  readonly files?: OutputPaths
}

/** Files with the output of a program that is too long for the result of its step. */
export interface OutputPaths {
  readonly stdout?: string
  readonly stderr?: string
  /** The output was longer than the limit of the setting: the end is missing. */
  readonly truncated?: true
}

export function recordAttempt(
  {store, now}: WorkspaceContext,
  {runId, workflow, activityId}: ActivityKey,
  {attempt, status, owner, leaseUntilMs, error, output}: AttemptEnd,
): void {
  store.run(
    `INSERT INTO workflow_activity_attempt_log (run_id, workflow_name, activity_id, attempt_no, status, worker_owner,
  lease_until_ms, error, output_json, recorded_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[runId, workflow, activityId, attempt, status, owner ?? null, leaseUntilMs ?? null, error ?? null],
      output === undefined ? null : JSON.stringify(output),
      now(),
    ],
  )
}

/**
 * The last attempt of an activity without a result.
 * @property isOpen it has not failed: it was interrupted
 * @property failures number of attempts that have failed; those that were withdrawn have not
 */
export interface LastAttempt {
  readonly attempt: number
  readonly isOpen: boolean
  readonly failures: number
}

/** The last attempts of the unfinished activities of a run, by activity id. */
export function lastAttempts({store}: WorkspaceContext, runId: string): ReadonlyMap<string, LastAttempt> {
  const rows = store.all<{activity_id: string; attempt: number; failed: number | null; failures: number}>(
    `SELECT activity_id, max(attempt_no) AS attempt, max(CASE status WHEN 'failed' THEN attempt_no END) AS failed,
  count(CASE status WHEN 'failed' THEN 1 END) AS failures
FROM workflow_activity_attempt_log AS a WHERE run_id = ?
  AND NOT EXISTS (SELECT 1 FROM workflow_activity_log AS l WHERE l.run_id = a.run_id
    AND l.workflow_name = a.workflow_name AND l.activity_id = a.activity_id AND l.status = 'completed')
GROUP BY activity_id`,
    [runId],
  )
  return new Map(
    rows.map(({activity_id, attempt, failed, failures}) => [
      activity_id,
      {attempt, isOpen: failed !== attempt, failures},
    ]),
  )
}

/** The error of the last failed attempt of an activity. */
export const lastError = ({store}: WorkspaceContext, runId: string, activityId: string): string | undefined =>
  store.get<{error: string | null}>(
    `SELECT error FROM workflow_activity_attempt_log WHERE run_id = ? AND activity_id = ? AND status = 'failed'
ORDER BY attempt_no DESC LIMIT 1`,
    [runId, activityId],
  )?.error ?? undefined
