import type {WorkspaceContext} from '../workspace/index.js'
import type {ProgramOutput} from './store/activities.js'
import {driverOf, type RunDriver, type RunState, stateOf} from './store/lease.js'
import {completedSteps, isFinished, type RunRow, requireRun} from './store/runs.js'
import {scheduledRuns} from './store/schedules.js'

/** A run as lists show it. Times are Unix ms. */
export interface RunSummary {
  run_id: string
  workflow: string
  status: RunState
  completed_steps: number
  planned_steps: number
  started_at_ms: number
  updated_at_ms: number
  completed_at_ms?: number
  error?: string
}

/** A run with its activities. */
export interface RunReport extends RunSummary {
  input: unknown
  output?: unknown
  source?: string
  plan_session_id?: string
  /** The process that drives the run, and its pid; absent if none does. */
  driver?: RunDriver
  pid?: number
  wake_at_ms?: number
  activities: ActivityReport[]
}

export interface ActivityReport {
  activity_id: string
  activity: string
  /** `interrupted`: it was running when the run ended. */
  status: 'started' | 'completed' | 'failed' | 'interrupted'
  attempts: number
  recorded_at_ms: number
  /** Error of the last failed attempt. */
  error?: string
  /** What the program of the last failed attempt printed, unless a later one succeeded. */
  output?: ProgramOutput
  /** Key of the signal that the activity waits for. */
  signal_key?: string
  /** Question of an approval. */
  prompt?: string
}

export interface RunFilter {
  status?: string | undefined
  workflow?: string | undefined
  /** Only the runs that follow this one in the list. */
  before?: string | undefined
  limit?: number | undefined
}

/** Runs, newest first. @throws workflow_run_not_found */
export function listRuns(
  context: WorkspaceContext,
  {status, workflow, before, limit = 50}: RunFilter = {},
): RunSummary[] {
  const {store, repositoryId} = context
  // Whether a process drives a run is not stored: each of these states is `running` in the store.
  const start = before === undefined ? undefined : requireRun(context, before)
  const isDerived = status === 'queued' || status === 'running' || status === 'interrupted'
  const rows = store.iterate<RunRow>(
    `SELECT * FROM workflow_run_log WHERE repository_id = @repository AND (@status IS NULL OR status = @status)
  AND (@workflow IS NULL OR workflow_name = @workflow)
  AND (@run IS NULL OR started_at_ms <= @started AND (started_at_ms, run_id) < (@started, @run))
ORDER BY started_at_ms DESC, run_id DESC LIMIT @limit`,
    {
      repository: repositoryId,
      status: isDerived ? 'running' : (status ?? null),
      workflow: workflow ?? null,
      run: start?.run_id ?? null,
      started: start?.started_at_ms ?? null,
      limit: isDerived ? -1 : limit,
    },
  )
  const found: RunSummary[] = []
  for (const row of rows) {
    const run = summary(context, row)
    if (status === undefined || run.status === status) found.push(run)
    if (found.length === limit) break
  }
  return found
}

/** The newest run that the schedule of a workflow has started. @param file absolute path */
export function lastScheduledRun(context: WorkspaceContext, workflow: string, file: string): RunSummary | undefined {
  const row = context.store.get<RunRow>(
    `SELECT * FROM workflow_run_log WHERE repository_id = @repository AND source_path = @file
  AND workflow_name = @workflow AND substr(run_id, 1, length(@prefix)) = @prefix ORDER BY started_at_ms DESC LIMIT 1`,
    {repository: context.repositoryId, file, workflow, prefix: scheduledRuns(workflow)},
  )
  return row && summary(context, row)
}

/** @throws workflow_run_not_found */
export function runReport(context: WorkspaceContext, runId: string): RunReport {
  const run = requireRun(context, runId)
  const {output_json, source_path, plan_session_id, wake_at_ms, status} = run
  const driver = driverOf(run, context.now())
  const rows = context.store.all<ActivityRow>(activitySql, [runId])
  return {
    ...summary(context, run),
    input: JSON.parse(run.input_json),
    ...(output_json === null ? {} : {output: JSON.parse(output_json)}),
    ...(source_path === null ? {} : {source: source_path}),
    ...(plan_session_id === null ? {} : {plan_session_id}),
    ...(driver === undefined ? {} : {driver, pid: driver.pid}),
    ...(status === 'waiting' && wake_at_ms !== null ? {wake_at_ms} : {}),
    activities: rows.map(({error, waits_for: waits, is_open: isOpen, output_json: printed, ...row}) => ({
      ...row,
      ...(row.status === 'completed' || printed === null ? {} : {output: JSON.parse(printed)}),
      ...(row.status === 'started' && isFinished(run) ? {status: isOpen === 1 ? 'interrupted' : 'failed'} : {}),
      ...(error === null ? {} : {error}),
      ...(row.status === 'started' && waits !== null ? JSON.parse(waits) : {}),
    })),
  }
}

type ActivityRow = Omit<ActivityReport, 'error' | 'output'> & {
  error: string | null
  is_open: 0 | 1
  output_json: string | null
  waits_for: string | null
}

/** The activities of a run in the order in which they were started; a completed one has two rows. */
const activitySql = `SELECT activity_id, activity_name AS activity,
  CASE WHEN count(CASE status WHEN 'completed' THEN 1 END) > 0 THEN 'completed' ELSE 'started' END AS status,
  (SELECT count(*) FROM (SELECT attempt_no FROM workflow_activity_attempt_log AS a WHERE a.run_id = l.run_id
    AND a.activity_id = l.activity_id UNION SELECT attempt_no FROM workflow_activity_log AS c WHERE c.run_id = l.run_id
    AND c.activity_id = l.activity_id AND c.attempt_no IS NOT NULL)) AS attempts,
  (SELECT max(attempt_no) FROM workflow_activity_attempt_log AS a WHERE a.run_id = l.run_id
    AND a.activity_id = l.activity_id) IS NOT (SELECT max(attempt_no) FROM workflow_activity_attempt_log AS a
    WHERE a.run_id = l.run_id AND a.activity_id = l.activity_id AND a.status = 'failed') AS is_open,
  max(recorded_at_ms) AS recorded_at_ms,
  (SELECT error FROM workflow_activity_attempt_log AS a WHERE a.run_id = l.run_id AND a.activity_id = l.activity_id
    AND a.status = 'failed' ORDER BY attempt_no DESC LIMIT 1) AS error,
  (SELECT output_json FROM workflow_activity_attempt_log AS a WHERE a.run_id = l.run_id
    AND a.activity_id = l.activity_id AND a.status = 'failed' ORDER BY attempt_no DESC LIMIT 1) AS output_json,
  max(CASE status WHEN 'started' THEN result_json END) AS waits_for
FROM workflow_activity_log AS l WHERE run_id = ? GROUP BY activity_id ORDER BY min(seq)`

function summary(context: WorkspaceContext, run: RunRow): RunSummary {
  const {run_id, workflow_name: workflow, status, planned_steps, started_at_ms, updated_at_ms} = run
  const {completed_at_ms, last_error: error} = run
  return {
    run_id,
    workflow,
    status: stateOf(run, context.now()),
    completed_steps: completedSteps(context, run),
    planned_steps,
    started_at_ms,
    updated_at_ms,
    ...(completed_at_ms === null ? {} : {completed_at_ms}),
    ...(error === null || status === 'completed' ? {} : {error}),
  }
}
