import {randomUUID} from 'node:crypto'
import type {WorkflowDefinition} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {appendEvent} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {everyStep, type Workflow} from '../definition/definition.js'
import {removeOrphanedOutput} from './output-files.js'

export const runStatuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const
export type RunStatus = (typeof runStatuses)[number]

/**
 * A row of `workflow_run_log`.
 * @property completed_steps while a process drives the run, as of the last renewal of the lease
 */
export interface RunRow {
  run_id: string
  repository_id: string
  workflow_name: string
  status: RunStatus
  planned_steps: number
  completed_steps: number
  plan_session_id: string | null
  plan_node_id: string | null
  plan_version: number | null
  lease_owner: string | null
  lease_until_ms: number | null
  lease_host: string | null
  lease_pid: number | null
  lease_process_start: string | null
  started_at_ms: number
  updated_at_ms: number
  completed_at_ms: number | null
  wake_at_ms: number | null
  cancel_requested_at_ms: number | null
  is_unwinding: 0 | 1
  last_error: string | null
  source_path: string | null
  definition_json: string
  definition_digest: string
  input_json: string
  output_json: string | null
}

/** The step of a plan for which a run was started. */
export interface PlanOfRun {
  readonly sessionId: string
  readonly nodeId?: string | undefined
  readonly version?: number | undefined
}

export interface NewRun {
  /** Default: `wf-NAME-UUID`. */
  readonly runId?: string | undefined
  readonly input: Readonly<Record<string, unknown>>
  /** File with the definition; it is checked for changes when the run is resumed. */
  readonly source?: string | undefined
  readonly plan?: PlanOfRun | undefined
}

const maxIdLength = 200

/** Inserts a run that no process drives yet. @throws workflow_run_id_invalid, workflow_run_exists */
export function insertRun(context: WorkspaceContext, workflow: Workflow, {runId, input, source, plan}: NewRun): RunRow {
  const {store, repositoryId, now} = context
  const id = runId ?? `wf-${workflow.name}-${randomUUID()}`
  if (id.trim() === '' || id.length > maxIdLength || /\p{Cc}/u.test(id))
    throw new SvcError('workflow_run_id_invalid', {limit: maxIdLength})
  const at = now()
  const {changes} = store.run(
    `INSERT INTO workflow_run_log (run_id, repository_id, workflow_name, status, planned_steps, plan_session_id,
  plan_node_id, plan_version, started_at_ms, updated_at_ms, wake_at_ms, source_path, definition_json, definition_digest,
  input_json)
VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [
      id,
      repositoryId,
      workflow.name,
      [...everyStep(workflow.steps)].length,
      plan?.sessionId ?? null,
      plan?.nodeId ?? null,
      plan?.version ?? null,
      at,
      at,
      at,
      source ?? null,
      JSON.stringify(workflow.source),
      workflow.digest,
      JSON.stringify(input),
    ],
  )
  if (changes === 0) throw new SvcError('workflow_run_exists', {run: id})
  return requireRun(context, id)
}

export const findRun = ({store, repositoryId}: WorkspaceContext, runId: string): RunRow | undefined =>
  store.get<RunRow>('SELECT * FROM workflow_run_log WHERE run_id = ? AND repository_id = ?', [runId, repositoryId])

/** The number of activities with a result of a row of `workflow_run_log`, in SQL. */
export const completedOfRun = `(SELECT count(*) FROM workflow_activity_log AS a
  WHERE a.run_id = workflow_run_log.run_id AND a.status = 'completed')`

/** The number of activities of a run that have a result. */
export const completedSteps = ({store}: WorkspaceContext, {run_id, status, completed_steps: last}: RunRow): number =>
  status === 'running'
    ? (store.get<{count: number}>(`SELECT ${completedOfRun} AS count FROM workflow_run_log WHERE run_id = ?`, [run_id])
        ?.count ?? last)
    : last

/** @throws workflow_run_not_found */
export function requireRun(context: WorkspaceContext, runId: string): RunRow {
  const run = findRun(context, runId)
  if (run === undefined) throw new SvcError('workflow_run_not_found', {run: runId})
  return run
}

/** The definition that a run was started with, or has adopted. */
export const definitionOf = ({definition_json: json}: RunRow): WorkflowDefinition => JSON.parse(json)

export const isFinished = ({status}: Pick<RunRow, 'status'>): boolean => status !== 'running' && status !== 'waiting'

/** True if a run has failed and nothing that it did was undone. */
export const canResume = ({status, is_unwinding}: Pick<RunRow, 'status' | 'is_unwinding'>): boolean =>
  status === 'failed' && is_unwinding === 0

export const finished = (run: RunRow): SvcError =>
  new SvcError('workflow_finished', {run: run.run_id, status: run.status, canResume: canResume(run)})

/** Replaces the definition of a run. Results of activities are kept by their ids. */
export function adoptDefinition({store, now}: WorkspaceContext, runId: string, workflow: Workflow): void {
  store.run(
    `UPDATE workflow_run_log SET definition_json = ?, definition_digest = ?, planned_steps = ?, updated_at_ms = ?
WHERE run_id = ?`,
    [JSON.stringify(workflow.source), workflow.digest, [...everyStep(workflow.steps)].length, now(), runId],
  )
}

/** Runs that can continue: waiting ones whose time has come, and those that a process drives or has driven. */
export const dueRuns = ({store, repositoryId, now}: WorkspaceContext, limit: number): RunRow[] =>
  store.all<RunRow>(
    `SELECT * FROM workflow_run_log WHERE repository_id = @repository AND status = 'running'
UNION ALL
SELECT * FROM workflow_run_log WHERE repository_id = @repository AND status = 'waiting' AND wake_at_ms <= @now
LIMIT @limit`,
    {repository: repositoryId, now: now(), limit},
  )

/** Lets a waiting run continue. */
export function wakeRun({store, now}: WorkspaceContext, runId: string): void {
  store.run("UPDATE workflow_run_log SET wake_at_ms = ? WHERE run_id = ? AND status = 'waiting'", [now(), runId])
}

/** Lets the daemon continue a run: a waiting one before its time, or a failed one, whose last step gets all its attempts again. */
export function reopenRun({store, now}: WorkspaceContext, runId: string): void {
  const at = now()
  store.run(
    `UPDATE workflow_run_log SET status = 'running', completed_at_ms = NULL, wake_at_ms = ?, updated_at_ms = ?
WHERE run_id = ? AND status IN ('failed', 'waiting')`,
    [at, at, runId],
  )
}

/** Asks for a run to be cancelled: the process that drives it, or the next one, does that. */
export function requestCancel(context: WorkspaceContext, runId: string): void {
  const at = context.now()
  context.store.run(
    `UPDATE workflow_run_log SET cancel_requested_at_ms = coalesce(cancel_requested_at_ms, ?), updated_at_ms = ?
WHERE run_id = ?`,
    [at, at, runId],
  )
  wakeRun(context, runId)
}

/** The unfinished runs for the steps of a version of a plan. */
export const runsOfPlan = ({store, repositoryId}: WorkspaceContext, planSessionId: string, version: number): string[] =>
  store
    .all<{run_id: string}>(
      `SELECT run_id FROM workflow_run_log WHERE repository_id = ? AND plan_session_id = ? AND coalesce(plan_version, 1) = ?
  AND status IN ('running', 'waiting')`,
      [repositoryId, planSessionId, version],
    )
    .map(({run_id}) => run_id)

const dayMs = 86_400_000

export interface RunPruning {
  /** Minimum time since the runs ended, ms; default: the retention of the settings. */
  olderThanMs?: number | undefined
  /** Also deletes failed runs that could be resumed. */
  failed?: boolean | undefined
  /** Only counts the runs. */
  dryRun?: boolean | undefined
  /** Maximum number of runs. */
  limit?: number | undefined
}

/**
 * Deletes old runs with their activities, signals and output files, unless they can be resumed. The event
 * `workflow_runs_pruned` counts them.
 * @returns number of runs
 */
export function pruneRuns(
  context: WorkspaceContext,
  {olderThanMs, failed = false, dryRun = false, limit = -1}: RunPruning,
): number {
  const {store, repositoryId, now, config} = context
  const ageMs = olderThanMs ?? config.workflowRetentionDays * dayMs
  const count = store.transaction(() => {
    const runs = store.all<{run_id: string}>(
      `SELECT run_id FROM workflow_run_log WHERE repository_id = @repository AND completed_at_ms <= @limit_ms
  AND (${hasEndedForGood} OR (@failed AND status = 'failed')) LIMIT @limit`,
      {repository: repositoryId, limit_ms: now() - ageMs, failed: failed ? 1 : 0, limit},
    )
    if (runs.length === 0 || dryRun) return runs.length
    const ids = JSON.stringify(runs.map(({run_id}) => run_id))
    for (const table of tablesOfRuns)
      store.run(`DELETE FROM ${table} WHERE run_id IN (SELECT value FROM json_each(?))`, [ids])
    appendEvent(context, {type: 'workflow_runs_pruned', runs: runs.length})
    return runs.length
  })
  // If the transaction fails, the runs keep their files.
  if (count > 0 && !dryRun) removeOrphanedOutput(store)
  return count
}

/** Condition of runs that cannot be resumed: a failed run can, unless something that it did was undone; see `canResume`. */
export const hasEndedForGood = "(status IN ('completed', 'cancelled') OR (status = 'failed' AND is_unwinding = 1))"

const tablesOfRuns = [
  'workflow_signal_log',
  'workflow_activity_attempt_log',
  'workflow_activity_log',
  'workflow_run_log',
] as const
