-- A single row, which has a key because sequential scans are disabled: the planner would add their enormous cost.
CREATE TABLE mesh_clock (
  key boolean PRIMARY KEY DEFAULT true CHECK (key),
  at bigint NOT NULL,
  ahead bigint NOT NULL DEFAULT 0,
  untrusted_until bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO mesh_clock (at) VALUES (floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);

CREATE TABLE mesh_nodes (
  scope_id text COLLATE "C" NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  trust_tier text NOT NULL DEFAULT 'trusted',
  maintenance boolean NOT NULL DEFAULT false,
  maintenance_until bigint,
  quarantined boolean NOT NULL DEFAULT false,
  joined_at bigint NOT NULL,
  left_at bigint,
  visibility text NOT NULL,
  capabilities jsonb NOT NULL,
  record_json text NOT NULL,
  PRIMARY KEY (scope_id, node_id)
);

CREATE UNLOGGED TABLE mesh_node_seen (
  scope_id text COLLATE "C" NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  last_seen bigint NOT NULL,
  incarnation bigint,
  seq bigint,
  superseded text,
  cpu double precision,
  memory bigint,
  beat bigint NOT NULL,
  PRIMARY KEY (scope_id, node_id)
) WITH (fillfactor = 50);

CREATE SEQUENCE mesh_fence;
CREATE TABLE mesh_exec_leases (
  scope_id text COLLATE "C" NOT NULL,
  scope_key text COLLATE "C" NOT NULL,
  lease_id bigint UNIQUE,
  holder text,
  granted_at bigint,
  expires_at bigint,
  renewals integer NOT NULL DEFAULT 0,
  state text NOT NULL CHECK (state IN ('granted', 'released', 'revoked', 'expired')),
  ended_at bigint,
  audit_id bigint,
  PRIMARY KEY (scope_id, scope_key)
);
CREATE INDEX mesh_exec_leases_held ON mesh_exec_leases (scope_id, holder, lease_id) WHERE state = 'granted';
CREATE INDEX mesh_exec_leases_due ON mesh_exec_leases (expires_at) WHERE state = 'granted';
CREATE INDEX mesh_exec_leases_ended ON mesh_exec_leases (ended_at) WHERE ended_at IS NOT NULL;

CREATE SEQUENCE mesh_message_id;
CREATE TABLE mesh_messages (
  id bigint PRIMARY KEY,
  scope_id text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  receiver text COLLATE "C" NOT NULL,
  type text NOT NULL,
  priority smallint NOT NULL,
  privacy_class text,
  task_kind text,
  holder text,
  lease_expires bigint,
  attempts integer NOT NULL DEFAULT 0,
  tried_at bigint,
  created_at bigint NOT NULL,
  acked_at bigint,
  dead_at bigint,
  idem_key text COLLATE "C",
  body_sha256 bytea,
  model_id text,
  traceparent text,
  sender_node text,
  jwe text,
  payload bytea NOT NULL,
  requirements jsonb
);
CREATE UNIQUE INDEX mesh_messages_key ON mesh_messages (scope_id, sender, receiver, idem_key) WHERE idem_key IS NOT NULL;
CREATE INDEX mesh_messages_open ON mesh_messages (scope_id, receiver, priority DESC, id)
  WHERE acked_at IS NULL AND dead_at IS NULL;
CREATE INDEX mesh_messages_held ON mesh_messages (scope_id, holder, receiver, priority DESC, id) WHERE holder IS NOT NULL;
CREATE INDEX mesh_messages_acked ON mesh_messages (acked_at) WHERE acked_at IS NOT NULL;
CREATE INDEX mesh_messages_dead ON mesh_messages (dead_at) WHERE dead_at IS NOT NULL;
CREATE INDEX mesh_messages_given_up ON mesh_messages (scope_id, id) WHERE dead_at IS NOT NULL AND acked_at IS NULL;

CREATE TABLE mesh_inboxes (
  scope_id text COLLATE "C" NOT NULL,
  receiver text COLLATE "C" NOT NULL,
  used bigint NOT NULL,
  used_at bigint NOT NULL,
  PRIMARY KEY (scope_id, receiver)
) WITH (fillfactor = 50);

CREATE TABLE mesh_jti (jti text COLLATE "C" PRIMARY KEY, exp bigint NOT NULL);
CREATE INDEX mesh_jti_exp ON mesh_jti (exp);

CREATE TABLE mesh_bootstrap (
  token_sha256 text COLLATE "C" PRIMARY KEY,
  scope_id text NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint NOT NULL,
  used_by text NOT NULL
);

CREATE TABLE mesh_audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  scope_id text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  detail jsonb NOT NULL
);
CREATE INDEX mesh_audit_page ON mesh_audit (scope_id, id);
CREATE INDEX mesh_audit_at ON mesh_audit (at);

CREATE TABLE mesh_blobs (
  scope_id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  expires_at bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (scope_id, sha256)
);
ALTER TABLE mesh_blobs ALTER bytes SET STORAGE EXTERNAL;
CREATE INDEX mesh_blobs_due ON mesh_blobs (expires_at);
