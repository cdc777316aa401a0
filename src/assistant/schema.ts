import {fragment} from '../store/index.js'

/**
 * The tables of conversations and of model usage. Messages are ordered by id: both turns of an exchange are written
 * together. `llm_interactions` contains no text of prompts or answers.
 */
export const assistantFragment = fragment(
  'assistant',
  `
CREATE TABLE conversations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id TEXT NOT NULL,
  external_session_id TEXT NOT NULL,
  thread_id TEXT,
  title TEXT NOT NULL DEFAULT '',
  origin_surface TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  UNIQUE (repository_id, external_session_id)
) STRICT;

CREATE TABLE conversation_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  content_text TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  model_used TEXT,
  token_count INTEGER,
  context_files_json TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX conversation_messages_of ON conversation_messages (conversation_id, id);

CREATE TABLE llm_interactions (
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
CREATE INDEX llm_interactions_session ON llm_interactions (repository_id, session_id);
`,
)
