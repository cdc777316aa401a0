import type {WorkspaceContext} from '../workspace/index.js'
import {requireRun} from './store/runs.js'

/** What the tables of a run contain about a moment. */
export interface RunEntry {
  at_ms: number
  kind: 'step_started' | 'step_completed' | 'attempt_started' | 'attempt_failed' | 'signal_received' | 'signal_consumed'
  /** Id of the step; for a signal, its key. */
  subject: string
  attempt?: number
  /** What drove the attempt. */
  worker?: string
  error?: string
  /** Payload of the signal. */
  payload?: unknown
}

/**
 * What a run has recorded, in order: when its steps and their attempts started and ended, and when signals arrived.
 * @param after number of entries to skip
 * @throws workflow_run_not_found
 */
export function runEntries(
  context: WorkspaceContext,
  run: string,
  {after = 0, limit = 200}: {after?: number | undefined; limit?: number | undefined} = {},
): RunEntry[] {
  requireRun(context, run)
  return context.store.all<EntryRow>(entriesSql, {run, after, limit}).map((row) => ({
    at_ms: row.at_ms,
    kind: row.kind,
    subject: row.subject,
    ...(row.attempt === null ? {} : {attempt: row.attempt}),
    ...(row.worker === null ? {} : {worker: row.worker}),
    ...(row.error === null ? {} : {error: row.error}),
    ...(row.payload_json === null ? {} : {payload: JSON.parse(row.payload_json)}),
  }))
}

interface EntryRow {
  at_ms: number
  kind: RunEntry['kind']
  subject: string
  attempt: number | null
  worker: string | null
  error: string | null
  payload_json: string | null
}

/** Entries of the same millisecond are in the order in which they can happen. */
const entriesSql = `SELECT at_ms, kind, subject, attempt, worker, error, payload_json FROM (
  SELECT recorded_at_ms AS at_ms, iif(status = 'started', 'step_started', 'step_completed') AS kind,
    iif(status = 'started', 0, 4) AS rank, seq AS nth, activity_id AS subject, attempt_no AS attempt, NULL AS worker,
    NULL AS error, NULL AS payload_json
  FROM workflow_activity_log WHERE run_id = @run
  UNION ALL SELECT recorded_at_ms, iif(status = 'started', 'attempt_started', 'attempt_failed'),
    iif(status = 'started', 1, 2), attempt_no, activity_id, attempt_no, worker_owner, error, NULL
  FROM workflow_activity_attempt_log WHERE run_id = @run
  UNION ALL SELECT recorded_at_ms, 'signal_received', 3, id, signal_key, NULL, NULL, NULL, payload_json
  FROM workflow_signal_log WHERE run_id = @run
  UNION ALL SELECT consumed_at_ms, 'signal_consumed', 3, id, signal_key, NULL, NULL, NULL, NULL
  FROM workflow_signal_log WHERE run_id = @run AND consumed_at_ms IS NOT NULL
) ORDER BY at_ms, rank, nth LIMIT @limit OFFSET @after`
