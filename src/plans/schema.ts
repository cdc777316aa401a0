import {fragment} from '../store/index.js'

/**
 * The tables of plans, in the same store as the tasks. A plan has versions, and a version has nodes, ordered by
 * `ordinal`. A node id refers to the same node in every version that contains it, and is never reused. Times are Unix
 * milliseconds. JSON columns contain what their names state.
 *
 * `plan_node_tasks` maps a task to its node; tasks without a plan have no row. The row follows the node into the next
 * version, so it always has the latest version that contains the node.
 *
 * `held_reason` marks a pending node that is ready, with the reason why its task was rejected. The tasks of a plan count
 * as submitted by the one that last executed it, `executed_by`. Null means a person. `submission_json` has what the tasks
 * of a plan take over from the submission of its goal; null for a plan that was not made of a submission.
 */
export const planFragment = fragment(
  'plans',
  `
CREATE TABLE plan_sessions (
  plan_session_id TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  origin_session_id TEXT,
  tenant_id TEXT,
  goal_text TEXT NOT NULL,
  strategy TEXT NOT NULL CHECK (strategy IN
    ('immediate_act', 'continuous_ooda', 'sequential_dag', 'hierarchical_htn', 'workflow_handoff')),
  current_version INTEGER NOT NULL DEFAULT 1,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'active', 'completed', 'failed')),
  question_session_id TEXT,
  iterative_loop_round INTEGER NOT NULL DEFAULT 0,
  iterative_stop_reason TEXT,
  iterative_loop_metadata_json TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_sessions_latest ON plan_sessions (repository_id, created_at);

CREATE TABLE plan_versions (
  plan_session_id TEXT NOT NULL REFERENCES plan_sessions (plan_session_id),
  version INTEGER NOT NULL CHECK (version >= 1),
  parent_version INTEGER,
  trigger_event TEXT,
  trigger_payload_json TEXT,
  quality_score REAL NOT NULL DEFAULT 0,
  reviewer_verdict TEXT NOT NULL DEFAULT 'pending' CHECK (reviewer_verdict IN ('pending', 'accepted', 'flagged')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (plan_session_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_nodes (
  plan_session_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  description TEXT NOT NULL,
  dependencies_json TEXT NOT NULL DEFAULT '[]',
  execution_policy_json TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN
    ('pending', 'queued', 'in_progress', 'completed', 'failed', 'cancelled', 'superseded')),
  workflow_invocation TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (plan_session_id, version, node_id),
  FOREIGN KEY (plan_session_id, version) REFERENCES plan_versions (plan_session_id, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plan_nodes_order ON plan_nodes (plan_session_id, version, ordinal);
CREATE INDEX plan_nodes_status ON plan_nodes (plan_session_id, version, status);

CREATE TABLE plan_node_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_session_id TEXT NOT NULL REFERENCES plan_sessions (plan_session_id),
  version INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  attempt_no INTEGER NOT NULL,
  task_id INTEGER REFERENCES orch_tasks (id),
  outcome TEXT NOT NULL CHECK (outcome IN ('completed', 'failed')),
  error_text TEXT,
  latency_ms INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX plan_node_attempts_node ON plan_node_attempts (plan_session_id, node_id, attempt_no);

CREATE TABLE plan_node_tasks (
  task_id INTEGER PRIMARY KEY REFERENCES orch_tasks (id),
  plan_session_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  node_id TEXT NOT NULL,
  FOREIGN KEY (plan_session_id, version, node_id) REFERENCES plan_nodes (plan_session_id, version, node_id)
) STRICT;
CREATE INDEX plan_node_tasks_node ON plan_node_tasks (plan_session_id, version, node_id);
`,
  `
ALTER TABLE plan_nodes ADD COLUMN held_reason TEXT;
CREATE INDEX plan_nodes_held ON plan_nodes (plan_session_id, version) WHERE held_reason IS NOT NULL;
`,
  "ALTER TABLE plan_sessions ADD COLUMN scope_files_json TEXT NOT NULL DEFAULT '[]';",
  "ALTER TABLE plan_sessions ADD COLUMN executed_by TEXT CHECK (executed_by IN ('person', 'agent'));",
  'ALTER TABLE plan_sessions ADD COLUMN submission_json TEXT;',
)
