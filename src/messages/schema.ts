import {fragment} from '../store/index.js'

/**
 * Durable inboxes. A message is unread until it is acknowledged. It becomes a dead letter when it reaches the delivery
 * limit or its agent retires. Times are Unix milliseconds.
 *
 * - The payload is the last column, so that SQLite reads a long one only if it is selected.
 * - `acknowledged_by` is the consumer that has acknowledged the message; null if an earlier version has recorded it.
 * - `claim_until_ms` without an owner delays a message that could not be handled.
 * - A key derived from the content is removed from its message (null) when a new message needs it.
 * - The number in `a2a_messages_exhausted` is `maxDeliveries`; a query must contain the same number to use the index.
 */
export const messageFragment = fragment(
  'messages',
  `
CREATE TABLE a2a_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_uuid TEXT NOT NULL UNIQUE,
  repository_id TEXT NOT NULL,
  sender_agent INTEGER NOT NULL REFERENCES orch_agents (id),
  receiver_agent INTEGER NOT NULL REFERENCES orch_agents (id),
  msg_type TEXT NOT NULL,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
  thread_id TEXT,
  correlation_id TEXT,
  tenant_id TEXT,
  idempotency_key TEXT,
  claim_owner TEXT,
  claim_until_ms INTEGER,
  delivery_attempts INTEGER NOT NULL DEFAULT 0,
  last_claim_error TEXT,
  created_at_ms INTEGER NOT NULL,
  acknowledged_at_ms INTEGER,
  dead_lettered_at_ms INTEGER,
  payload TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX a2a_messages_key ON a2a_messages (repository_id, sender_agent, receiver_agent, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX a2a_messages_unread ON a2a_messages (repository_id, receiver_agent, priority DESC, id)
  WHERE acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NULL;
CREATE INDEX a2a_messages_exhausted ON a2a_messages (repository_id)
  WHERE delivery_attempts >= 10 AND acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NULL;
CREATE INDEX a2a_messages_dead ON a2a_messages (repository_id, receiver_agent, priority DESC, id)
  WHERE acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NOT NULL;
CREATE INDEX a2a_messages_acknowledged ON a2a_messages (repository_id, acknowledged_at_ms)
  WHERE acknowledged_at_ms IS NOT NULL;
CREATE INDEX a2a_messages_history ON a2a_messages (repository_id, created_at_ms);
`,
  `
ALTER TABLE a2a_messages ADD COLUMN acknowledged_by TEXT;
`,
)
