import {fragment} from '../../../store/index.js'

/**
 * SQLite tables of a control plane. Times are Unix ms on the store's clock, except the deadlines of maintenance and the
 * expiry of tokens, which clients set. Every row that belongs to a tenant has a `scope_id`.
 *
 * - `mesh_counters`: `fence`, `message_id` and `node_no` are the last assigned values. `clock` is an upper bound of all
 *   times, and `clock_ahead` its maximum lead over the actual time, ms (0 after a clean shutdown).
 * - `mesh_node_seen`: last heartbeat of each node. Heartbeats are first written to `mesh_node_beats`, several hundred
 *   per row, and folded into this table later.
 * - `mesh_exec_leases`: last epoch of each key, even after it has ended, to keep its fencing token.
 * - `mesh_messages`: a message is pending while `acked_at`, `dead_at` and `holder` are null. A row keeps its
 *   idempotency key until it is deleted. The index `mesh_messages_waiting` contains all columns that decide whether a
 *   node can claim a message, so that a claim that skips many messages does not read their payloads.
 * - `mesh_audit`: a row `lease.granted` for each epoch of a lease, with the current `detail` `{lease_id, scope_key,
 *   holder_node_id, granted_unix_ms, expires_unix_ms, renewals}`, and after its end a row `lease.released`,
 *   `lease.revoked` or `lease.expired` with `{lease_id, scope_key, holder_node_id, ended_unix_ms}`. The epoch was
 *   `[granted, ended)`, or `[granted, expires)`. Also the actions of administrators, `message.dead`, `message.retried`,
 *   `message.dropped`, and consumed tokens.
 * - `mesh_blobs`: files of delegated tasks, by the hexadecimal SHA-256 of their `bytes`.
 */
export const meshStoreFragment = fragment(
  'mesh_store',
  `
CREATE TABLE mesh_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE mesh_nodes (
  node_no INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  trust_tier TEXT NOT NULL DEFAULT 'trusted',
  maintenance INTEGER NOT NULL DEFAULT 0,
  maintenance_until INTEGER,
  quarantined INTEGER NOT NULL DEFAULT 0,
  joined_at INTEGER NOT NULL,
  left_at INTEGER,
  record_json TEXT NOT NULL,
  UNIQUE (scope_id, node_id)
) STRICT;

CREATE TABLE mesh_node_seen (
  scope_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  last_seen INTEGER NOT NULL,
  incarnation INTEGER,
  seq INTEGER,
  superseded TEXT,
  cpu REAL,
  memory INTEGER,
  beat INTEGER NOT NULL,
  PRIMARY KEY (scope_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE mesh_node_beats (beat INTEGER PRIMARY KEY, beats TEXT NOT NULL) STRICT;

CREATE TABLE mesh_exec_leases (
  scope_id TEXT NOT NULL,
  scope_key TEXT NOT NULL,
  lease_id INTEGER NOT NULL UNIQUE,
  holder TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  renewals INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('granted', 'released', 'revoked', 'expired')),
  ended_at INTEGER,
  audit_id INTEGER NOT NULL,
  PRIMARY KEY (scope_id, scope_key)
) STRICT;
CREATE INDEX mesh_exec_leases_held ON mesh_exec_leases (scope_id, holder, lease_id) WHERE state = 'granted';
CREATE INDEX mesh_exec_leases_due ON mesh_exec_leases (expires_at) WHERE state = 'granted';
CREATE INDEX mesh_exec_leases_ended ON mesh_exec_leases (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE mesh_messages (
  id INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  receiver TEXT NOT NULL,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  privacy_class TEXT,
  task_kind TEXT,
  holder TEXT,
  lease_expires INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  tried_at INTEGER,
  created_at INTEGER NOT NULL,
  acked_at INTEGER,
  dead_at INTEGER,
  idem_key TEXT,
  body_sha256 BLOB,
  model_id TEXT,
  traceparent TEXT,
  sender_node TEXT,
  jwe TEXT,
  payload TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX mesh_messages_key ON mesh_messages (scope_id, sender, receiver, idem_key) WHERE idem_key IS NOT NULL;
CREATE INDEX mesh_messages_open ON mesh_messages (scope_id, receiver, id) WHERE acked_at IS NULL AND dead_at IS NULL;
CREATE INDEX mesh_messages_waiting ON mesh_messages (scope_id, receiver, priority DESC, id, privacy_class, type)
  WHERE acked_at IS NULL AND dead_at IS NULL AND holder IS NULL;
CREATE INDEX mesh_messages_held ON mesh_messages (scope_id, holder) WHERE holder IS NOT NULL;
CREATE INDEX mesh_messages_due ON mesh_messages (lease_expires) WHERE lease_expires IS NOT NULL;
CREATE INDEX mesh_messages_acked ON mesh_messages (acked_at) WHERE acked_at IS NOT NULL;
CREATE INDEX mesh_messages_dead ON mesh_messages (dead_at) WHERE dead_at IS NOT NULL;

CREATE TABLE mesh_jti (jti TEXT PRIMARY KEY, exp INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX mesh_jti_exp ON mesh_jti (exp);

CREATE TABLE mesh_bootstrap (
  token_sha256 TEXT PRIMARY KEY,
  scope_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  used_by TEXT NOT NULL
) STRICT;

CREATE TABLE mesh_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  scope_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX mesh_audit_at ON mesh_audit (at);
`,
  `
CREATE INDEX mesh_messages_given_up ON mesh_messages (scope_id, id) WHERE dead_at IS NOT NULL AND acked_at IS NULL;
`,
  `
CREATE TABLE mesh_blobs (
  id INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (scope_id, sha256)
) STRICT;
CREATE INDEX mesh_blobs_due ON mesh_blobs (expires_at);
`,
  `
ALTER TABLE mesh_messages ADD COLUMN requirements TEXT;
DROP INDEX mesh_messages_waiting;
CREATE INDEX mesh_messages_waiting ON mesh_messages (scope_id, receiver, priority DESC, id, privacy_class, type, sender, requirements)
  WHERE acked_at IS NULL AND dead_at IS NULL AND holder IS NULL;
`,
)
