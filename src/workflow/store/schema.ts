import {fragment} from '../../store/index.js'

/**
 * Runs of workflows. Times are Unix milliseconds; JSON columns contain what their names state. A run is interpreted
 * again from its definition when it is resumed: `workflow_activity_log` has the results that are then reused.
 *
 * A run that `waits` is in no process: its timers, signals and tasks are rows, and `wake_at_ms` is when it can
 * continue, if that is known. `lease_*` identify the process that drives a run. `is_unwinding`: the run has failed or
 * is cancelled, and its compensations run. `seq` orders the rows of a run. The row of a started activity has in
 * `result_json` what the activity waits for. The row of a completed one has in `attempt_no` the attempt that succeeded,
 * null if there was none. `workflow_activity_attempt_log` has the starts and the failures of attempts.
 */
export const workflowFragment = fragment(
  'workflows',
  `
CREATE TABLE workflow_run_log (
  run_id TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  workflow_name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'waiting', 'completed', 'failed', 'cancelled')),
  planned_steps INTEGER NOT NULL,
  completed_steps INTEGER NOT NULL DEFAULT 0,
  plan_session_id TEXT,
  plan_node_id TEXT,
  plan_version INTEGER,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  lease_host TEXT,
  lease_pid INTEGER,
  lease_process_start TEXT,
  started_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  completed_at_ms INTEGER,
  wake_at_ms INTEGER,
  cancel_requested_at_ms INTEGER,
  is_unwinding INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  source_path TEXT,
  definition_json TEXT NOT NULL,
  definition_digest TEXT NOT NULL,
  input_json TEXT NOT NULL,
  output_json TEXT
) STRICT;
CREATE INDEX workflow_run_log_latest ON workflow_run_log (repository_id, started_at_ms);
CREATE INDEX workflow_run_log_ended ON workflow_run_log (repository_id, completed_at_ms) WHERE completed_at_ms IS NOT NULL;
CREATE INDEX workflow_run_log_running ON workflow_run_log (repository_id) WHERE status = 'running';
CREATE INDEX workflow_run_log_waiting ON workflow_run_log (repository_id, wake_at_ms) WHERE status = 'waiting';

CREATE TABLE workflow_activity_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES workflow_run_log (run_id),
  workflow_name TEXT NOT NULL,
  activity_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('started', 'completed')),
  activity_name TEXT NOT NULL,
  result_json TEXT,
  task_id INTEGER,
  recorded_at_ms INTEGER NOT NULL,
  UNIQUE (run_id, workflow_name, activity_id, status)
) STRICT;
CREATE INDEX workflow_activity_log_task ON workflow_activity_log (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE workflow_activity_attempt_log (
  run_id TEXT NOT NULL REFERENCES workflow_run_log (run_id),
  workflow_name TEXT NOT NULL,
  activity_id TEXT NOT NULL,
  attempt_no INTEGER NOT NULL CHECK (attempt_no >= 1),
  status TEXT NOT NULL CHECK (status IN ('started', 'completed', 'failed')),
  worker_owner TEXT,
  lease_until_ms INTEGER,
  error TEXT,
  recorded_at_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, workflow_name, activity_id, attempt_no, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_signal_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES workflow_run_log (run_id),
  signal_key TEXT NOT NULL,
  payload_json TEXT,
  recorded_at_ms INTEGER NOT NULL,
  consumed_at_ms INTEGER
) STRICT;
CREATE INDEX workflow_signal_log_open ON workflow_signal_log (run_id, signal_key) WHERE consumed_at_ms IS NULL;

CREATE TABLE activity_result_cache (
  activity_id TEXT NOT NULL,
  arg_hash TEXT NOT NULL,
  result_json TEXT NOT NULL,
  produced_at_unix_ms INTEGER NOT NULL,
  dedup_window_ms INTEGER NOT NULL,
  dedup_window_until INTEGER NOT NULL,
  PRIMARY KEY (activity_id, arg_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_result_cache_expiry ON activity_result_cache (dedup_window_until);
`,
  // Output of the program of a failed attempt, and its exit status.
  'ALTER TABLE workflow_activity_attempt_log ADD COLUMN output_json TEXT',
  // Each result is one row of one tree: the table is its own index, and the row has the attempt that succeeded.
  `
CREATE TABLE workflow_activity_log_2 (
  run_id TEXT NOT NULL REFERENCES workflow_run_log (run_id),
  workflow_name TEXT NOT NULL,
  activity_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('started', 'completed')),
  seq INTEGER NOT NULL,
  activity_name TEXT NOT NULL,
  task_id INTEGER,
  attempt_no INTEGER,
  recorded_at_ms INTEGER NOT NULL,
  result_json TEXT,
  PRIMARY KEY (run_id, workflow_name, activity_id, status)
) STRICT, WITHOUT ROWID;
INSERT INTO workflow_activity_log_2
  SELECT run_id, workflow_name, activity_id, status, seq, activity_name, task_id,
    CASE status WHEN 'completed' THEN (
      SELECT max(attempt_no) FROM workflow_activity_attempt_log AS a WHERE a.run_id = l.run_id
        AND a.workflow_name = l.workflow_name AND a.activity_id = l.activity_id AND a.status = 'completed') END,
    recorded_at_ms, result_json
  FROM workflow_activity_log AS l;
DROP TABLE workflow_activity_log;
ALTER TABLE workflow_activity_log_2 RENAME TO workflow_activity_log;
CREATE INDEX workflow_activity_log_task ON workflow_activity_log (task_id) WHERE task_id IS NOT NULL;
DELETE FROM workflow_activity_attempt_log WHERE status = 'completed';
`,
  // Workflows that the daemon starts: `schedule` identifies the times, `due_at_ms` is the next one without a run.
  `CREATE TABLE workflow_schedules (
  repository_id TEXT NOT NULL,
  source_path TEXT NOT NULL,
  workflow_name TEXT NOT NULL,
  schedule TEXT NOT NULL,
  due_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, source_path, workflow_name)
) STRICT, WITHOUT ROWID`,
)
