import {maxAttempts, maxDeadPerClaim, sameAttempt} from '../message-rows.js'

/** Difference between the clock and its last saved time from which the clock leaps, ms. */
const leapAtMs = 5000
/** Time after a leap during which the clock is not trusted for deletions, ms. */
const untrustedMs = 3_600_000
/** Expression for the time of the store, Unix ms, evaluated once per statement. */
export const now = `(SELECT least(greatest(mesh_wall_clock() + ahead, at), at + ${leapAtMs}) FROM mesh_clock WHERE key)`
const accelerators = ['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu']

const tables = `
-- A single row, which has a key because sequential scans are disabled: the planner would add their enormous cost.
CREATE TABLE mesh_clock (
  key boolean PRIMARY KEY DEFAULT true CHECK (key),
  at bigint NOT NULL,
  ahead bigint NOT NULL DEFAULT 0,
  untrusted_until bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

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
`

/**
 * Time of the store, Unix ms. Functions that decide about expiry call it after they have locked their rows, so that the
 * times of consecutive epochs do not overlap.
 */
const clock = `
CREATE FUNCTION mesh_wall_clock() RETURNS bigint LANGUAGE sql VOLATILE
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

CREATE FUNCTION mesh_now() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN ${now};
END $$;

CREATE FUNCTION mesh_tick(is_first boolean) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  saved mesh_clock;
  wall bigint;
  t bigint;
  gap bigint;
BEGIN
  SELECT * INTO saved FROM mesh_clock FOR UPDATE;
  wall := mesh_wall_clock();
  t := greatest(wall + saved.ahead, saved.at);
  gap := t - saved.at;
  IF gap > (CASE WHEN is_first THEN 0 ELSE ${leapAtMs} END) THEN
    UPDATE mesh_audit SET detail = jsonb_set(detail, '{expires_unix_ms}', to_jsonb((detail ->> 'expires_unix_ms')::bigint + gap))
      WHERE id IN (SELECT audit_id FROM mesh_exec_leases WHERE state = 'granted' AND expires_at > saved.at);
    UPDATE mesh_exec_leases SET expires_at = expires_at + gap WHERE state = 'granted' AND expires_at > saved.at;
    UPDATE mesh_messages SET lease_expires = lease_expires + gap WHERE holder IS NOT NULL AND lease_expires > saved.at;
  ELSE
    -- Approach the system time after it was set back.
    t := greatest(saved.at, t - least(greatest(t - wall, 0), gap / 20));
  END IF;
  UPDATE mesh_clock SET at = t, ahead = t - wall,
    untrusted_until = CASE WHEN gap > ${leapAtMs} AND NOT is_first THEN t + ${untrustedMs} ELSE untrusted_until END;
  RETURN t;
END $$;

INSERT INTO mesh_clock (at) VALUES (mesh_wall_clock());
`

const auditAndNodes = `
CREATE FUNCTION mesh_log(scope text, actor text, action text, target text, detail jsonb) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail)
  VALUES (mesh_now(), scope, actor, action, target, detail) RETURNING id
$$;

-- Key of the advisory lock of a node. It does not write rows, so that a claim that finds nothing writes nothing.
CREATE FUNCTION mesh_node_lock(scope text, node text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN hashtextextended(scope || E'\\n' || node, 0);

-- Finds a node that has not left, which does not change before the end of the transaction.
CREATE FUNCTION mesh_node(scope text, node text) RETURNS mesh_nodes LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  found_node mesh_nodes;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(mesh_node_lock(scope, node));
  SELECT * INTO found_node FROM mesh_nodes WHERE scope_id = scope AND node_id = node AND left_at IS NULL;
  RETURN found_node;
END $$;

-- Locks a node for a change, even if it does not exist yet. Returns the time.
CREATE FUNCTION mesh_lock_node(scope text, node text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(mesh_node_lock(scope, node));
  PERFORM FROM mesh_node_seen WHERE scope_id = scope AND node_id = node FOR UPDATE;
  RETURN mesh_now();
END $$;

CREATE FUNCTION mesh_in_maintenance(node mesh_nodes, t bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN node.maintenance AND coalesce(node.maintenance_until > t, true);
`

const leases = `
CREATE FUNCTION mesh_lease_detail(l mesh_exec_leases) RETURNS jsonb LANGUAGE sql IMMUTABLE
  RETURN jsonb_build_object('lease_id', l.lease_id::text, 'scope_key', l.scope_key, 'holder_node_id', l.holder,
    'granted_unix_ms', l.granted_at, 'expires_unix_ms', l.expires_at, 'renewals', l.renewals);

CREATE FUNCTION mesh_end_lease(l mesh_exec_leases, new_state text, actor text, ended bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
  UPDATE mesh_exec_leases SET state = new_state, ended_at = ended WHERE scope_id = l.scope_id AND scope_key = l.scope_key;
  SELECT mesh_log(l.scope_id, actor, 'lease.' || new_state, l.scope_key, jsonb_build_object(
    'lease_id', l.lease_id::text, 'scope_key', l.scope_key, 'holder_node_id', l.holder, 'ended_unix_ms', ended));
$$;

CREATE FUNCTION mesh_extend_lease(l mesh_exec_leases, lease_ms bigint) RETURNS mesh_exec_leases
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE mesh_exec_leases m SET expires_at = mesh_now() + lease_ms, renewals = m.renewals + 1
    WHERE m.scope_id = l.scope_id AND m.scope_key = l.scope_key RETURNING * INTO l;
  UPDATE mesh_audit SET at = l.expires_at - lease_ms, detail = mesh_lease_detail(l) WHERE id = l.audit_id;
  RETURN l;
END $$;

CREATE FUNCTION mesh_grant(scope text, key text, claimer text, lease_ms bigint, OUT refusal text, OUT lease mesh_exec_leases)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  node mesh_nodes := mesh_node(scope, claimer);
  t bigint := mesh_now();
BEGIN
  refusal := CASE WHEN node.node_id IS NULL THEN 'unknown_node' WHEN node.quarantined THEN 'node_quarantined'
    WHEN mesh_in_maintenance(node, t) THEN 'node_maintenance' END;
  IF refusal IS NOT NULL THEN RETURN; END IF;
  -- The row is locked before its token is drawn, even if it is new, so that tokens never decrease.
  INSERT INTO mesh_exec_leases (scope_id, scope_key, state) VALUES (scope, key, 'released') ON CONFLICT DO NOTHING;
  SELECT * INTO lease FROM mesh_exec_leases WHERE scope_id = scope AND scope_key = key FOR UPDATE;
  t := mesh_now();
  IF lease.state = 'granted' AND lease.expires_at > t THEN
    IF lease.holder <> claimer THEN refusal := 'lease_held';
    ELSE lease := mesh_extend_lease(lease, lease_ms);
    END IF;
    RETURN;
  END IF;
  IF lease.state = 'granted' THEN PERFORM mesh_end_lease(lease, 'expired', 'store', lease.expires_at); END IF;
  -- A step of the system clock must not let an epoch start before the previous one has ended.
  t := greatest(t, lease.ended_at);
  UPDATE mesh_exec_leases SET lease_id = nextval('mesh_fence'), holder = claimer, granted_at = t, expires_at = t + lease_ms,
    renewals = 0, state = 'granted', ended_at = NULL WHERE scope_id = scope AND scope_key = key RETURNING * INTO lease;
  UPDATE mesh_exec_leases SET audit_id = mesh_log(scope, claimer, 'lease.granted', key, mesh_lease_detail(lease))
    WHERE scope_id = scope AND scope_key = key;
END $$;

-- Performs an action on a lease that is held: renew, release, revoke or verify. A null key or claimer is not compared.
CREATE FUNCTION mesh_use_lease(action text, scope text, id bigint, key text, claimer text, actor text, lease_ms bigint,
  OUT refusal text, OUT now bigint, OUT lease mesh_exec_leases) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  node mesh_nodes;
BEGIN
  IF claimer IS NOT NULL THEN
    node := mesh_node(scope, claimer);
    refusal := CASE WHEN node.node_id IS NULL THEN 'unknown_node'
      WHEN node.quarantined AND action = 'renew' THEN 'node_quarantined' END;
    IF refusal IS NOT NULL THEN RETURN; END IF;
  END IF;
  IF action = 'verify' THEN
    -- Only a lease that has expired is locked, to mark it.
    SELECT * INTO lease FROM mesh_exec_leases l WHERE l.lease_id = id AND l.scope_id = scope AND l.state = 'granted';
    now := mesh_now();
  END IF;
  IF action <> 'verify' OR lease.expires_at <= now THEN
    SELECT * INTO lease FROM mesh_exec_leases l WHERE l.lease_id = id AND l.scope_id = scope AND l.state = 'granted' FOR UPDATE;
    now := mesh_now();
  END IF;
  IF lease.expires_at <= now THEN
    PERFORM mesh_end_lease(lease, 'expired', 'store', lease.expires_at);
    lease := NULL;
  END IF;
  refusal := CASE WHEN lease.lease_id IS NULL OR lease.scope_key <> key THEN 'lease_not_found'
    WHEN lease.holder <> claimer THEN 'not_lease_holder' END;
  IF refusal IS NOT NULL THEN RETURN; END IF;
  IF action = 'renew' THEN lease := mesh_extend_lease(lease, lease_ms);
  ELSIF action IN ('release', 'revoke') THEN PERFORM mesh_end_lease(lease, action || 'd', actor, now);
  END IF;
END $$;

-- Removes a node that is locked, ends its leases and releases its claims. One in quarantine is kept without its record.
CREATE FUNCTION mesh_leave(scope text, node text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l mesh_exec_leases;
  t bigint;
BEGIN
  DELETE FROM mesh_node_seen WHERE scope_id = scope AND node_id = node;
  DELETE FROM mesh_nodes WHERE scope_id = scope AND node_id = node AND NOT quarantined;
  UPDATE mesh_nodes SET left_at = mesh_now(), maintenance = false, maintenance_until = NULL, visibility = 'private',
    capabilities = '{}', record_json = json_build_object('id', node_id) WHERE scope_id = scope AND node_id = node;
  FOR l IN SELECT * FROM mesh_exec_leases WHERE scope_id = scope AND holder = node AND state = 'granted'
    ORDER BY scope_key FOR UPDATE LOOP
    t := mesh_now();
    IF l.expires_at > t THEN PERFORM mesh_end_lease(l, 'released', node, t);
    ELSE PERFORM mesh_end_lease(l, 'expired', 'store', l.expires_at);
    END IF;
  END LOOP;
  UPDATE mesh_messages SET holder = NULL, lease_expires = NULL WHERE scope_id = scope AND holder = node;
END $$;

-- Removes a bounded number of nodes that were not seen since a time, except those that are in use.
CREATE FUNCTION mesh_purge_nodes(since bigint, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  silent record;
  examined integer := 0;
BEGIN
  FOR silent IN SELECT scope_id, node_id FROM mesh_nodes JOIN mesh_node_seen USING (scope_id, node_id)
    WHERE left_at IS NULL AND last_seen <= since LIMIT most LOOP
    examined := examined + 1;
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(mesh_node_lock(silent.scope_id, silent.node_id));
    PERFORM FROM mesh_node_seen WHERE scope_id = silent.scope_id AND node_id = silent.node_id AND last_seen <= since FOR UPDATE;
    IF FOUND THEN PERFORM mesh_leave(silent.scope_id, silent.node_id); END IF;
  END LOOP;
  RETURN examined;
END $$;

-- Marks a bounded number of expired leases, so that they cannot become active again.
CREATE FUNCTION mesh_expire_leases(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  l mesh_exec_leases;
  marked integer := 0;
  t bigint := mesh_now();
BEGIN
  FOR l IN SELECT * FROM mesh_exec_leases WHERE state = 'granted' AND expires_at <= t
    ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED LOOP
    PERFORM mesh_end_lease(l, 'expired', 'store', l.expires_at);
    marked := marked + 1;
  END LOOP;
  RETURN marked;
END $$;
`

const messages = `
-- Adds messages to an upper bound of the open messages of an inbox. The bound is counted again when it reaches the
-- limit. The row stays locked, so that no message is added before the end of the transaction.
CREATE FUNCTION mesh_reserve(scope text, inbox text, more bigint, most bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  bound bigint;
BEGIN
  INSERT INTO mesh_inboxes AS i (scope_id, receiver, used, used_at) VALUES (scope, inbox, more, mesh_now())
    ON CONFLICT (scope_id, receiver) DO UPDATE SET used = i.used + more, used_at = excluded.used_at RETURNING used INTO bound;
  IF bound <= most THEN RETURN true; END IF;
  IF inbox = '' THEN
    SELECT count(*) INTO bound FROM mesh_messages
      WHERE scope_id = scope AND acked_at IS NULL AND dead_at IS NULL;
  ELSE
    SELECT count(*) INTO bound FROM mesh_messages
      WHERE scope_id = scope AND receiver = inbox AND acked_at IS NULL AND dead_at IS NULL;
  END IF;
  UPDATE mesh_inboxes SET used = bound + CASE WHEN bound + more <= most THEN more ELSE 0 END
    WHERE scope_id = scope AND receiver = inbox;
  RETURN bound + more <= most;
END $$;

-- Deletes a bounded number of inboxes that were not used since a time and are empty.
CREATE FUNCTION mesh_purge_inboxes(since bigint, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  inbox record;
  examined integer := 0;
BEGIN
  FOR inbox IN SELECT * FROM mesh_inboxes WHERE receiver <> '' AND used_at <= since LIMIT most FOR UPDATE SKIP LOCKED LOOP
    examined := examined + 1;
    -- While the row is locked, no message is added.
    IF EXISTS (SELECT FROM mesh_messages WHERE scope_id = inbox.scope_id AND receiver = inbox.receiver
      AND acked_at IS NULL AND dead_at IS NULL) THEN
      UPDATE mesh_inboxes SET used_at = mesh_now() WHERE scope_id = inbox.scope_id AND receiver = inbox.receiver;
    ELSE
      DELETE FROM mesh_inboxes WHERE scope_id = inbox.scope_id AND receiver = inbox.receiver;
    END IF;
  END LOOP;
  RETURN examined;
END $$;

-- Delivers a message. Its id is drawn while the inbox is locked, so that ids of a scope are assigned in commit order.
CREATE FUNCTION mesh_deliver(most bigint, most_of_receiver bigint, scope text, new_sender text, new_receiver text,
  new_type text, new_priority smallint, new_privacy_class text, new_task_kind text, key text, digest bytea, new_model_id text,
  new_traceparent text, new_sender_node text, new_jwe text, new_payload bytea, new_requirements jsonb,
  OUT refusal text, OUT message_id bigint, OUT is_duplicate boolean) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  known record;
  reserved integer;
BEGIN
  is_duplicate := false;
  -- The row of the scope first: it serialises all deliveries of the scope, so that they cannot deadlock.
  INSERT INTO mesh_inboxes AS i (scope_id, receiver, used, used_at)
    SELECT scope, inbox, 1, at FROM mesh_clock, (VALUES (''), (new_receiver)) r (inbox)
    ON CONFLICT (scope_id, receiver) DO UPDATE SET used = i.used + 1, used_at = excluded.used_at
    WHERE i.used < CASE i.receiver WHEN '' THEN most ELSE most_of_receiver END;
  GET DIAGNOSTICS reserved = ROW_COUNT;
  IF reserved < 2 THEN
    refusal := CASE WHEN NOT mesh_reserve(scope, '', 1, most) THEN 'scope_full' END;
    IF NOT mesh_reserve(scope, new_receiver, 1, most_of_receiver) THEN refusal := 'receiver_full'; END IF;
  END IF;
  IF refusal IS NULL THEN
    message_id := nextval('mesh_message_id');
    INSERT INTO mesh_messages (id, scope_id, sender, receiver, type, priority, privacy_class, task_kind, created_at, idem_key,
      body_sha256, model_id, traceparent, sender_node, jwe, payload, requirements)
    VALUES (message_id, scope, new_sender, new_receiver, new_type, new_priority, new_privacy_class, new_task_kind, mesh_now(), key,
      digest, new_model_id, new_traceparent, new_sender_node, new_jwe, new_payload, new_requirements) ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN; END IF;
  END IF;
  -- A repeated delivery is not refused.
  SELECT id, body_sha256 INTO known FROM mesh_messages
    WHERE scope_id = scope AND sender = new_sender AND receiver = new_receiver AND idem_key = key;
  IF NOT FOUND THEN RETURN; END IF;
  message_id := known.id;
  is_duplicate := true;
  refusal := CASE WHEN known.body_sha256 IS DISTINCT FROM digest THEN 'idempotency_key_reused' END;
END $$;

-- The two conditions below are in PL/pgSQL because SQL would be inlined, and then initialised in every claim.
CREATE FUNCTION mesh_is_allowed(privacy_class text, visibility text, trust text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE privacy_class
    WHEN 'public' THEN visibility <> 'private'
    WHEN 'private' THEN visibility <> 'public'
    WHEN 'trusted' THEN visibility <> 'public'
    WHEN 'trusted_only' THEN visibility <> 'public' AND trust <> 'new'
    ELSE true END;
END $$;

-- The same as meetsRequirements in TypeScript.
CREATE FUNCTION mesh_meets(offered jsonb, needed jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN ${[...accelerators, 'visual_eligible', 'multi_modal']
    .map((flag) => `(needed -> '${flag}' IS DISTINCT FROM 'true' OR offered -> '${flag}' = 'true')`)
    .join('\n    AND ')}
    AND (needed -> 'prefer_gpu_compute' IS DISTINCT FROM 'true'
      OR ${accelerators.map((flag) => `offered -> '${flag}' = 'true'`).join(' OR ')})
    AND coalesce((offered ->> 'min_vram_mb')::bigint, 0) >= coalesce((needed ->> 'min_vram_mb')::bigint, 0)
    AND coalesce((offered ->> 'cpu_cores')::bigint, (offered ->> 'min_cpu_cores')::bigint, 0)
      >= coalesce((needed ->> 'min_cpu_cores')::bigint, 0)
    AND coalesce(needed -> 'arch' = offered -> 'arch', needed -> 'arch' IS NULL)
    AND coalesce(needed -> 'device_class' = offered -> 'device_class', needed -> 'device_class' IS NULL)
    AND coalesce(offered -> 'labels', '[]') @> coalesce(needed -> 'labels', '[]');
END $$;

CREATE FUNCTION mesh_message_detail(m mesh_messages) RETURNS jsonb LANGUAGE sql IMMUTABLE
  RETURN jsonb_build_object('receiver_agent_id', m.receiver, 'message_type', m.type, 'delivery_attempts', m.attempts);

CREATE FUNCTION mesh_claim(scope text, claimer text, inbox text, excluded bigint[], excluded_senders text[], types text[],
  lease_ms bigint, OUT refusal text, OUT now bigint, OUT message mesh_messages) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  node mesh_nodes := mesh_node(scope, claimer);
  is_same_attempt boolean;
BEGIN
  IF node.node_id IS NULL THEN refusal := 'unknown_node'; END IF;
  now := mesh_now();
  IF refusal IS NOT NULL OR node.quarantined OR mesh_in_maintenance(node, now) THEN RETURN; END IF;
  FOR i IN 1..${maxDeadPerClaim} LOOP
    SELECT * INTO message FROM mesh_messages m WHERE m.scope_id = scope AND m.holder = claimer AND m.receiver = inbox
      AND m.lease_expires > now AND m.acked_at IS NULL AND m.dead_at IS NULL
      AND (excluded IS NULL OR m.id <> ALL (excluded)) AND (excluded_senders IS NULL OR m.sender <> ALL (excluded_senders))
      AND (types IS NULL OR m.type = ANY (types))
      ORDER BY m.priority DESC, m.id LIMIT 1 FOR UPDATE;
    is_same_attempt := message.tried_at IS NOT NULL AND now - message.tried_at <= lease_ms * ${sameAttempt};
    IF message.id IS NULL THEN
      SELECT * INTO message FROM mesh_messages m WHERE m.scope_id = scope AND m.receiver = inbox
        AND m.acked_at IS NULL AND m.dead_at IS NULL AND (m.holder IS NULL OR m.lease_expires <= now)
        AND (m.privacy_class IS NULL OR mesh_is_allowed(m.privacy_class, node.visibility, node.trust_tier))
        AND (excluded IS NULL OR m.id <> ALL (excluded)) AND (excluded_senders IS NULL OR m.sender <> ALL (excluded_senders))
        AND (types IS NULL OR m.type = ANY (types))
        AND (m.requirements IS NULL OR mesh_meets(node.capabilities, m.requirements))
        ORDER BY m.priority DESC, m.id LIMIT 1 FOR UPDATE SKIP LOCKED;
      is_same_attempt := false;
    END IF;
    IF message.id IS NULL THEN RETURN; END IF;
    IF is_same_attempt OR message.attempts < ${maxAttempts} THEN
      UPDATE mesh_messages SET holder = claimer, lease_expires = now + lease_ms,
        attempts = CASE WHEN is_same_attempt THEN attempts ELSE attempts + 1 END,
        tried_at = CASE WHEN is_same_attempt THEN tried_at ELSE now END
        WHERE id = message.id RETURNING * INTO message;
      RETURN;
    END IF;
    UPDATE mesh_messages SET dead_at = now, holder = NULL, lease_expires = NULL WHERE id = message.id;
    PERFORM mesh_log(scope, 'store', 'message.dead', message.id::text, mesh_message_detail(message));
    message := NULL;
  END LOOP;
END $$;

-- Acknowledges a message or, with a duration, renews the claim on it. A null claimer is not compared.
CREATE FUNCTION mesh_settle(scope text, inbox text, message_id bigint, claimer text, lease_ms bigint, OUT refusal text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  node mesh_nodes;
  m record;
  t bigint;
  held_by text;
BEGIN
  IF lease_ms IS NOT NULL THEN
    node := mesh_node(scope, claimer);
    refusal := CASE WHEN node.node_id IS NULL THEN 'unknown_node' WHEN node.quarantined THEN 'node_quarantined' END;
    IF refusal IS NOT NULL THEN RETURN; END IF;
  END IF;
  SELECT holder, lease_expires, acked_at, dead_at INTO m FROM mesh_messages
    WHERE id = message_id AND scope_id = scope AND receiver = inbox FOR UPDATE;
  IF NOT FOUND OR lease_ms IS NOT NULL AND (m.acked_at IS NOT NULL OR m.dead_at IS NOT NULL) THEN
    refusal := 'message_not_found';
    RETURN;
  END IF;
  IF m.acked_at IS NOT NULL THEN RETURN; END IF;
  t := mesh_now();
  held_by := CASE WHEN m.lease_expires > t THEN m.holder END;
  IF held_by <> claimer OR held_by IS NULL AND lease_ms IS NOT NULL THEN refusal := 'not_lease_holder';
  ELSIF lease_ms IS NOT NULL THEN UPDATE mesh_messages SET lease_expires = t + lease_ms WHERE id = message_id;
  -- The payload is deleted; the digest suffices to recognise repeated deliveries.
  ELSE UPDATE mesh_messages SET acked_at = t, holder = NULL, lease_expires = NULL, payload = '', jwe = NULL
    WHERE id = message_id;
  END IF;
END $$;
`

const credentialsAndFiles = `
-- Records the use of a token id. A refusal does not forget the ids of valid tokens, which could then be used again.
CREATE FUNCTION mesh_use_token(id text, keep_until bigint, has_room boolean, OUT refusal text, OUT is_new boolean)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  is_new := false;
  IF EXISTS (SELECT FROM mesh_jti WHERE jti = id) THEN RETURN; END IF;
  IF NOT has_room THEN
    refusal := 'full';
    RETURN;
  END IF;
  INSERT INTO mesh_jti VALUES (id, keep_until) ON CONFLICT DO NOTHING;
  is_new := FOUND;
END $$;

-- Stores a file or extends its time.
CREATE FUNCTION mesh_put_blob(scope text, digest text, content bytea, ttl bigint, most bigint, counted bigint, at_once integer)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  t bigint := mesh_now();
  used bigint;
BEGIN
  UPDATE mesh_blobs SET expires_at = t + ttl WHERE scope_id = scope AND sha256 = digest;
  IF FOUND THEN RETURN true; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('blobs ' || scope, 0));
  FOR pass IN 1..2 LOOP
    SELECT coalesce(sum(greatest(size, counted)), 0) INTO used FROM mesh_blobs WHERE scope_id = scope;
    EXIT WHEN used + greatest(octet_length(content), counted) <= most;
    IF pass = 2 THEN RETURN false; END IF;
    PERFORM mesh_remove('mesh_blobs', 'expires_at', t, at_once);
  END LOOP;
  INSERT INTO mesh_blobs VALUES (scope, digest, octet_length(content), t + ttl, content)
    ON CONFLICT (scope_id, sha256) DO UPDATE SET expires_at = excluded.expires_at;
  RETURN true;
END $$;

-- Deletes a bounded number of the oldest rows up to a time.
CREATE FUNCTION mesh_remove(rows_of regclass, column_name text, until bigint, most integer) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  removed integer;
BEGIN
  EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %I <= $1 ORDER BY %I LIMIT $2 FOR UPDATE SKIP LOCKED))',
    rows_of, rows_of, column_name, column_name) USING until, most;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
`

const replicas = `
CREATE UNLOGGED TABLE mesh_replicas (
  pid integer PRIMARY KEY,
  id text NOT NULL,
  version text NOT NULL,
  host text NOT NULL,
  since_unix_ms bigint NOT NULL
)`

/**
 * Migrations of the tables and functions of a control plane in PostgreSQL. Migrations are appended and never changed.
 * Columns are those of SQLite, where the same is stored. Times are Unix ms on the store's clock, except the deadlines of
 * maintenance and the expiry of tokens, which clients set. Every row that belongs to a tenant has a `scope_id`.
 *
 * - `mesh_clock`: the last saved time, which each process saves every second, and the lead over the system clock after
 *   that was set back. `mesh_now()` is never before the last saved time, and at most five seconds after it: after a
 *   longer time, all leases and claims are extended first. `mesh_wall_clock()` is the only function that reads the
 *   system clock.
 * - `mesh_node_seen`: last heartbeat of each node. It is not logged: after a crash of the server it is empty, and the
 *   nodes count as just seen.
 * - `mesh_exec_leases`: last epoch of each key, even after it has ended, to keep its fencing token.
 * - `mesh_inboxes`: upper bound of the open messages of each receiver, and of all receivers under an empty name. Only
 *   deliveries write it, so that acknowledgements do not wait for them.
 * - `mesh_messages`: `payload` is UTF-8; it may contain U+0000, which the type text cannot store.
 * - `mesh_audit`: as in SQLite.
 * - `mesh_replicas`: open stores, by the server process of their session.
 */
export const migrations: readonly string[] = [
  [tables, clock, auditAndNodes, leases, messages, credentialsAndFiles].join('\n'),
  replicas,
]
