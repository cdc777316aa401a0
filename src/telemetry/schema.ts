import {fragment} from '../store/index.js'

/**
 * Metrics and model calls. `llm_interactions` contains no text of prompts or answers. Older stores already have it, and
 * have mesh control events in a table of their own, whose rows become metrics.
 */
export const telemetryFragment = fragment(
  'telemetry',
  `
CREATE TABLE research_metrics (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  metric_type TEXT NOT NULL,
  metric_value REAL,
  metadata_json TEXT,
  created_at TEXT NOT NULL DEFAULT (datetime('now'))
) STRICT;
CREATE INDEX research_metrics_session ON research_metrics (session_id, metric_type);

CREATE TABLE IF NOT EXISTS llm_interactions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  session_id TEXT,
  trace_id TEXT,
  model_version TEXT NOT NULL,
  task_category TEXT NOT NULL,
  success INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS llm_interactions_session ON llm_interactions (repository_id, session_id);

CREATE TABLE IF NOT EXISTS mesh_control_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  repository_id TEXT NOT NULL,
  name TEXT NOT NULL,
  details_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO research_metrics (session_id, metric_type, metadata_json, created_at)
  SELECT session_id, 'mesh_control_event',
    json_object('name', name, 'repository_id', repository_id, 'details', json(details_json)),
    datetime(created_at_ms / 1000, 'unixepoch')
  FROM mesh_control_events ORDER BY id;
DROP TABLE mesh_control_events;
`,
)
