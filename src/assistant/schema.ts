import {fragment} from '../store/index.js'

/** The tables of conversations. Messages are ordered by id: both turns of an exchange are written together. */
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
`,
)
