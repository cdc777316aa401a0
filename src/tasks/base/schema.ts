import {fragment, livesTable} from '../../store/index.js'

/**
 * The tables of the orchestrator. The store is the single source of truth: every operation is one transaction, and any
 * process that opens the file continues from its state. Times are Unix milliseconds; JSON columns hold objects.
 *
 * - Ids are AUTOINCREMENT, so they are never reused. The tasks of a queue run in the order of their ids, which a clock
 *   change cannot affect.
 * - Triggers maintain the counters of an agent (queued, running, load) in the transaction that moves the task:
 *   routing reads one row per agent, however long the queues are. Load is counted in 25ths, so that the weights
 *   3.0, 1.0 and 0.4 per 5 points of complexity are whole numbers: 15, 5 and 2 per point.
 * - Command output is stored in pieces in a separate table, each at its byte offset, so that listing tasks does not
 *   read it. Only the output of the latest run is kept, under the generation of that run.
 * - Evidence for the completion of a task is in a separate table, which listing tasks does not read. Times of the
 *   context store are Unix seconds; 0 means no expiry.
 * - `svc_log_lives` has the restores of the store; they separate the ids of events and the generations of claims.
 * - `start_after_ms` is the requested start time; `not_before_ms` is the end of a pause between two runs.
 */
export const orchestratorFragment = fragment(
  'orchestrator',
  `
CREATE TABLE orch_agents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('reserved', 'dynamic', 'resolution')),
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'retired')),
  parent_agent_id INTEGER REFERENCES orch_agents (id),
  source_task_id INTEGER,
  spawn_reason TEXT,
  capabilities TEXT NOT NULL,
  model TEXT,
  session_id TEXT,
  activity TEXT NOT NULL DEFAULT 'idle',
  queued_background INTEGER NOT NULL DEFAULT 0,
  queued_normal INTEGER NOT NULL DEFAULT 0,
  queued_urgent INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  doubted INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  load INTEGER NOT NULL DEFAULT 0,
  tokens_used INTEGER NOT NULL DEFAULT 0,
  cost_usd_micros INTEGER NOT NULL DEFAULT 0,
  validation_failures INTEGER NOT NULL DEFAULT 0,
  reducer_cooldown_until_ms INTEGER,
  created_at_ms INTEGER NOT NULL,
  last_active_ms INTEGER NOT NULL,
  retired_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX orch_agents_name ON orch_agents (repository_id, name) WHERE state <> 'retired';

CREATE TABLE orch_tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  repository_id TEXT NOT NULL,
  idempotency_key TEXT,
  status TEXT NOT NULL CHECK (status IN
    ('Queued', 'InProgress', 'Blocked', 'BlockedOnApproval', 'Doubted', 'Completed', 'Failed', 'Cancelled')),
  status_reason TEXT,
  blocked_on INTEGER,
  unmet_dependencies INTEGER NOT NULL DEFAULT 0 CHECK (unmet_dependencies >= 0),
  agent_id INTEGER NOT NULL REFERENCES orch_agents (id),
  doubted_agent_id INTEGER REFERENCES orch_agents (id),
  doubted_status TEXT,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 2),
  complexity INTEGER NOT NULL CHECK (complexity BETWEEN 1 AND 10),
  category TEXT NOT NULL,
  phase_label TEXT NOT NULL,
  execution_role TEXT,
  processor TEXT NOT NULL CHECK (processor IN ('ai', 'exec', 'external')),
  description TEXT NOT NULL,
  file_manifest TEXT NOT NULL,
  request TEXT NOT NULL,
  journey_id TEXT,
  session_id TEXT,
  thread_id TEXT,
  trace_id TEXT NOT NULL,
  correlation_id TEXT,
  tenant_id TEXT,
  campaign_id TEXT,
  placement_reason TEXT NOT NULL,
  remote_delegate TEXT,
  claim_owner TEXT,
  claim_generation INTEGER NOT NULL DEFAULT 0,
  claim_expires_ms INTEGER,
  run_process TEXT,
  current_phase TEXT,
  transcript TEXT NOT NULL DEFAULT '[]',
  result TEXT,
  audit_report TEXT,
  retry_count INTEGER NOT NULL DEFAULT 0,
  fault_count INTEGER NOT NULL DEFAULT 0,
  debug_iterations INTEGER NOT NULL DEFAULT 0,
  toestub_iterations INTEGER NOT NULL DEFAULT 0,
  socrates_iterations INTEGER NOT NULL DEFAULT 0,
  handoff_count INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  not_before_ms INTEGER,
  started_at_ms INTEGER,
  finished_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX orch_tasks_key ON orch_tasks (repository_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX orch_tasks_queue ON orch_tasks (agent_id, priority DESC, id)
  WHERE status = 'Queued' AND processor <> 'external';
CREATE INDEX orch_tasks_claimable ON orch_tasks (repository_id, priority DESC, id)
  WHERE status = 'Queued' AND processor = 'external';
CREATE INDEX orch_tasks_status ON orch_tasks (repository_id, status, agent_id);
CREATE INDEX orch_tasks_processes ON orch_tasks (repository_id) WHERE run_process IS NOT NULL;
CREATE INDEX orch_tasks_handoffs ON orch_tasks (repository_id, handoff_count) WHERE handoff_count > 0;

CREATE TRIGGER orch_tasks_counted_in AFTER INSERT ON orch_tasks
WHEN NEW.status IN ('Queued', 'InProgress', 'Doubted')
BEGIN
  UPDATE orch_agents SET
    queued_background = queued_background + (NEW.status = 'Queued' AND NEW.priority = 0),
    queued_normal = queued_normal + (NEW.status = 'Queued' AND NEW.priority = 1),
    queued_urgent = queued_urgent + (NEW.status = 'Queued' AND NEW.priority = 2),
    running = running + (NEW.status = 'InProgress'),
    doubted = doubted + (NEW.status = 'Doubted'),
    load = load + iif(NEW.status = 'Doubted', 0, NEW.complexity * CASE NEW.priority WHEN 2 THEN 15 WHEN 1 THEN 5 ELSE 2 END)
  WHERE id = NEW.agent_id;
END;
CREATE TRIGGER orch_tasks_recounted AFTER UPDATE OF status, agent_id, priority ON orch_tasks
WHEN OLD.status <> NEW.status OR OLD.agent_id <> NEW.agent_id OR OLD.priority <> NEW.priority
BEGIN
  UPDATE orch_agents SET
    queued_background = queued_background - (OLD.status = 'Queued' AND OLD.priority = 0),
    queued_normal = queued_normal - (OLD.status = 'Queued' AND OLD.priority = 1),
    queued_urgent = queued_urgent - (OLD.status = 'Queued' AND OLD.priority = 2),
    running = running - (OLD.status = 'InProgress'),
    doubted = doubted - (OLD.status = 'Doubted'),
    load = load - iif(OLD.status IN ('Queued', 'InProgress'),
      OLD.complexity * CASE OLD.priority WHEN 2 THEN 15 WHEN 1 THEN 5 ELSE 2 END, 0)
  WHERE id = OLD.agent_id;
  UPDATE orch_agents SET
    queued_background = queued_background + (NEW.status = 'Queued' AND NEW.priority = 0),
    queued_normal = queued_normal + (NEW.status = 'Queued' AND NEW.priority = 1),
    queued_urgent = queued_urgent + (NEW.status = 'Queued' AND NEW.priority = 2),
    running = running + (NEW.status = 'InProgress'),
    doubted = doubted + (NEW.status = 'Doubted'),
    completed = completed + (NEW.status = 'Completed' AND OLD.status <> 'Completed'),
    load = load + iif(NEW.status IN ('Queued', 'InProgress'),
      NEW.complexity * CASE NEW.priority WHEN 2 THEN 15 WHEN 1 THEN 5 ELSE 2 END, 0)
  WHERE id = NEW.agent_id;
END;

CREATE TABLE orch_dependencies (
  task_id INTEGER NOT NULL REFERENCES orch_tasks (id),
  depends_on INTEGER NOT NULL REFERENCES orch_tasks (id),
  is_met INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (task_id, depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX orch_dependencies_reverse ON orch_dependencies (depends_on, is_met);

CREATE TABLE orch_locks (
  repository_id TEXT NOT NULL,
  path TEXT NOT NULL,
  task_id INTEGER NOT NULL REFERENCES orch_tasks (id),
  agent_id INTEGER NOT NULL REFERENCES orch_agents (id),
  access TEXT NOT NULL CHECK (access IN ('read', 'write')),
  acquired_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, path, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX orch_locks_task ON orch_locks (task_id);

CREATE TABLE orch_affinity (
  repository_id TEXT NOT NULL,
  path TEXT NOT NULL,
  agent_id INTEGER NOT NULL REFERENCES orch_agents (id),
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX orch_affinity_agent ON orch_affinity (agent_id);

CREATE TABLE orch_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,
  type TEXT NOT NULL,
  task_id INTEGER,
  agent_id INTEGER,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX orch_events_task ON orch_events (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE orch_leases (
  repository_id TEXT NOT NULL,
  name TEXT NOT NULL,
  holder TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  fence INTEGER NOT NULL,
  acquired_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE orch_state (
  repository_id TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (repository_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE reliability_scores (
  repository_id TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  reliability REAL NOT NULL,
  success_count INTEGER NOT NULL,
  failure_count INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, entity_type, entity_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_trust (
  repository_id TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  score REAL NOT NULL,
  variance REAL NOT NULL,
  completion REAL,
  tier TEXT NOT NULL,
  outcomes INTEGER NOT NULL,
  below_floor INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, agent_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE orch_awards (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  event_id INTEGER NOT NULL REFERENCES orch_events (id),
  task_id INTEGER NOT NULL,
  agent_id INTEGER NOT NULL,
  award TEXT NOT NULL,
  points INTEGER NOT NULL,
  report TEXT NOT NULL,
  awarded_at_ms INTEGER NOT NULL,
  UNIQUE (event_id, award)
) STRICT;

CREATE TABLE orchestration_lineage_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL,
  task_id INTEGER NOT NULL,
  agent_id INTEGER,
  session_id TEXT,
  workflow_id TEXT,
  plan_session_id TEXT,
  plan_node_id TEXT,
  payload_json TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX orchestration_lineage_task ON orchestration_lineage_events (repository_id, task_id);

CREATE TABLE routing_decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  journey_id TEXT,
  repository_id TEXT,
  session_id TEXT,
  surface TEXT NOT NULL DEFAULT '',
  model_id TEXT,
  reason_json TEXT
) STRICT;
`,
  `
CREATE TABLE orch_task_output (
  task_id INTEGER NOT NULL REFERENCES orch_tasks (id) ON DELETE CASCADE,
  at INTEGER NOT NULL CHECK (at >= 0),
  generation INTEGER NOT NULL,
  repository_id TEXT NOT NULL,
  bytes BLOB NOT NULL,
  written_at_ms INTEGER NOT NULL,
  PRIMARY KEY (task_id, at)
) STRICT;
CREATE INDEX orch_task_output_age ON orch_task_output (repository_id, written_at_ms);
`,
  `
ALTER TABLE orch_tasks ADD COLUMN doubted_role TEXT;
ALTER TABLE orch_tasks ADD COLUMN doubted_reason TEXT;
DROP TRIGGER orch_tasks_recounted;
CREATE TRIGGER orch_tasks_recounted AFTER UPDATE OF status, agent_id, priority ON orch_tasks
WHEN OLD.status <> NEW.status OR OLD.agent_id <> NEW.agent_id OR OLD.priority <> NEW.priority
BEGIN
  UPDATE orch_agents SET
    queued_background = queued_background - (OLD.status = 'Queued' AND OLD.priority = 0),
    queued_normal = queued_normal - (OLD.status = 'Queued' AND OLD.priority = 1),
    queued_urgent = queued_urgent - (OLD.status = 'Queued' AND OLD.priority = 2),
    running = running - (OLD.status = 'InProgress'),
    doubted = doubted - (OLD.status = 'Doubted'),
    completed = completed - (OLD.status = 'Completed' AND NEW.status <> 'Completed'),
    load = load - iif(OLD.status IN ('Queued', 'InProgress'),
      OLD.complexity * CASE OLD.priority WHEN 2 THEN 15 WHEN 1 THEN 5 ELSE 2 END, 0)
  WHERE id = OLD.agent_id;
  UPDATE orch_agents SET
    queued_background = queued_background + (NEW.status = 'Queued' AND NEW.priority = 0),
    queued_normal = queued_normal + (NEW.status = 'Queued' AND NEW.priority = 1),
    queued_urgent = queued_urgent + (NEW.status = 'Queued' AND NEW.priority = 2),
    running = running + (NEW.status = 'InProgress'),
    doubted = doubted + (NEW.status = 'Doubted'),
    completed = completed + (NEW.status = 'Completed' AND OLD.status <> 'Completed'),
    load = load + iif(NEW.status IN ('Queued', 'InProgress'),
      NEW.complexity * CASE NEW.priority WHEN 2 THEN 15 WHEN 1 THEN 5 ELSE 2 END, 0)
  WHERE id = NEW.agent_id;
END;
`,
  'ALTER TABLE orch_tasks ADD COLUMN start_after_ms INTEGER;',
  `
ALTER TABLE orch_tasks ADD COLUMN receipt TEXT;
ALTER TABLE orch_tasks ADD COLUMN approval_tier TEXT
  CHECK (approval_tier IN ('auto_approve', 'confirm', 'review', 'blocked'));

CREATE TABLE orch_task_evidence (
  task_id INTEGER PRIMARY KEY REFERENCES orch_tasks (id) ON DELETE CASCADE,
  repository_id TEXT NOT NULL,
  envelope TEXT,
  baseline TEXT,
  evaluation TEXT,
  evaluated_at_ms INTEGER
) STRICT;

CREATE TABLE orch_context (
  repository_id TEXT NOT NULL,
  key TEXT NOT NULL,
  agent_id INTEGER,
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  set_at INTEGER NOT NULL,
  PRIMARY KEY (repository_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE trust_observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  dimension TEXT NOT NULL,
  domain TEXT NOT NULL,
  class TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  value REAL NOT NULL,
  weight REAL NOT NULL,
  task_id INTEGER,
  observed_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX trust_observations_age ON trust_observations (repository_id, observed_at_ms);

CREATE TABLE trust_rollups (
  repository_id TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  dimension TEXT NOT NULL,
  domain TEXT NOT NULL,
  class TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  score REAL NOT NULL,
  observations INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (repository_id, entity_type, entity_id, dimension, domain, class, provider, model)
) STRICT, WITHOUT ROWID;
`,
  `
INSERT INTO trust_rollups (repository_id, entity_type, entity_id, dimension, domain, class, provider, model, score,
  observations, updated_at_ms)
SELECT repository_id, 'agent', agent_name, 'task_completion', '', '', '', '', completion, outcomes, updated_at_ms
FROM agent_trust WHERE completion IS NOT NULL;
`,
  `
ALTER TABLE orch_tasks ADD COLUMN attention_weight REAL;

CREATE TABLE orch_attention_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  event TEXT NOT NULL
) STRICT;
CREATE INDEX orch_attention_events_order ON orch_attention_events (repository_id, id);
`,
  `
CREATE TABLE question_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL,
  repository_id TEXT NOT NULL DEFAULT '',
  task_id TEXT,
  policy_version TEXT NOT NULL DEFAULT 'v1',
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  resolution_status TEXT NOT NULL DEFAULT 'open',
  belief_state_json TEXT
) STRICT;
CREATE INDEX question_sessions_open ON question_sessions (repository_id, session_id) WHERE ended_at_ms IS NULL;
CREATE INDEX question_sessions_task ON question_sessions (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE question_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  question_session_id INTEGER NOT NULL REFERENCES question_sessions (id) ON DELETE CASCADE,
  question_id TEXT NOT NULL,
  turn_index INTEGER NOT NULL,
  actor TEXT NOT NULL DEFAULT 'assistant',
  question_kind TEXT NOT NULL,
  prompt TEXT NOT NULL,
  expected_information_gain_bits REAL NOT NULL DEFAULT 0,
  expected_user_cost REAL NOT NULL DEFAULT 0,
  utility_bits_per_cost REAL NOT NULL DEFAULT 0,
  answer_text TEXT,
  answer_type TEXT,
  answered_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX question_events_session ON question_events (question_session_id);

CREATE TABLE question_options (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  question_event_id INTEGER NOT NULL REFERENCES question_events (id) ON DELETE CASCADE,
  option_id TEXT NOT NULL,
  label TEXT NOT NULL,
  prior_probability REAL,
  posterior_probability REAL,
  is_other INTEGER NOT NULL DEFAULT 0,
  UNIQUE (question_event_id, option_id)
) STRICT;
`,
  `
ALTER TABLE orch_agents ADD COLUMN unfinished_cost_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN budget_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN day_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN day_cost_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN idle_level INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN continuations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orch_agents ADD COLUMN continued_at_ms INTEGER;
`,
  `
ALTER TABLE orch_tasks ADD COLUMN delegation TEXT CHECK (delegation IN ('open', 'local'));
CREATE INDEX orch_tasks_delegable ON orch_tasks (repository_id, priority DESC, id)
  WHERE status = 'Queued' AND delegation = 'open';

CREATE TABLE mesh_delegations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  task_id INTEGER NOT NULL REFERENCES orch_tasks (id) ON DELETE CASCADE,
  task_uid TEXT NOT NULL,
  generation INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN
    ('granting', 'held', 'relayed', 'started', 'done', 'superseded', 'cancelled')),
  claimer_node_id TEXT NOT NULL,
  receiver_agent_id TEXT NOT NULL,
  reply_to_agent_id TEXT NOT NULL,
  lease_id TEXT,
  message_id INTEGER,
  worker_node_id TEXT,
  inputs_json TEXT NOT NULL DEFAULT '{}',
  applying_json TEXT,
  end_reason TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX mesh_delegations_task ON mesh_delegations (task_id);
CREATE INDEX mesh_delegations_open ON mesh_delegations (repository_id, id)
  WHERE state IN ('granting', 'held', 'relayed', 'started');
`,
  `
CREATE TABLE plan_test_decisions (
  task_id INTEGER PRIMARY KEY REFERENCES orch_tasks (id) ON DELETE CASCADE,
  decision TEXT NOT NULL CHECK (decision IN ('required', 'recommended', 'deferred', 'skip')),
  rationale TEXT NOT NULL,
  recorded_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO plan_test_decisions
  SELECT id, 'deferred', 'it was submitted before tests were decided', created_at_ms FROM orch_tasks;
`,
  `
ALTER TABLE orch_tasks ADD COLUMN ended_generation INTEGER;
ALTER TABLE orch_tasks ADD COLUMN ended_reply TEXT;
`,
  `
ALTER TABLE orch_task_evidence ADD COLUMN hidden_request TEXT;
ALTER TABLE orch_task_evidence ADD COLUMN hidden_passed INTEGER;
`,
  livesTable,
  `
ALTER TABLE orch_leases ADD COLUMN store_file TEXT NOT NULL DEFAULT '';
`,
)
