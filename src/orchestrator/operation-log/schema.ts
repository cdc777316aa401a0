import {fragment} from '../../store/index.js'

/** Reversible operations of persons; `payload` contains the data required for undo and redo. */
export const operationLogFragment = fragment(
  'operation_log',
  `
CREATE TABLE agent_oplog (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  payload TEXT NOT NULL,
  summary TEXT NOT NULL,
  undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1)),
  timestamp_ms INTEGER NOT NULL
) STRICT;
`,
  `
CREATE INDEX agent_oplog_submissions ON agent_oplog (repository_id, payload ->> 'task_id')
  WHERE operation = 'submit_task';
CREATE INDEX agent_oplog_age ON agent_oplog (repository_id, timestamp_ms);
`,
)
