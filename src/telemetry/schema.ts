import {fragment} from '../store/index.js'

/**
 * Metrics, model calls and evaluations of speech recognition. `llm_interactions` contains no text of prompts or answers. Older stores already have it, and
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
  `
CREATE TABLE speech_eval_run (
  run_id TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  run_type TEXT NOT NULL CHECK (run_type IN ('general_subtitle', 'code_domain', 'srt_ground_truth')),
  backend TEXT NOT NULL,
  model_id TEXT NOT NULL,
  dataset_name TEXT NOT NULL,
  normalizer TEXT NOT NULL,
  sample_count INTEGER NOT NULL,
  total_ref_words INTEGER NOT NULL,
  total_wer_errors INTEGER NOT NULL,
  global_wer REAL NOT NULL,
  global_cer REAL NOT NULL,
  avg_latency_ms REAL NOT NULL,
  avg_timing_offset_ms REAL,
  status TEXT NOT NULL CHECK (status IN ('running', 'complete')),
  notes TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX speech_eval_run_dataset ON speech_eval_run (repository_id, dataset_name, created_at);

CREATE TABLE speech_eval_sample (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES speech_eval_run (run_id) ON DELETE CASCADE,
  audio_path TEXT NOT NULL,
  reference_text TEXT NOT NULL,
  hypothesis_text TEXT NOT NULL,
  wer REAL NOT NULL,
  cer REAL NOT NULL,
  latency_ms REAL NOT NULL,
  segment_count INTEGER NOT NULL,
  no_speech_dropped INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX speech_eval_sample_run ON speech_eval_sample (run_id);
`,
)
