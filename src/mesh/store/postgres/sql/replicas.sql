CREATE UNLOGGED TABLE mesh_replicas (
  pid integer PRIMARY KEY,
  id text NOT NULL,
  version text NOT NULL,
  host text NOT NULL,
  since_unix_ms bigint NOT NULL
);
