CREATE OR REPLACE FUNCTION mesh_lease_detail(l mesh_exec_leases) RETURNS jsonb LANGUAGE sql IMMUTABLE
  RETURN jsonb_build_object('lease_id', l.lease_id::text, 'scope_key', l.scope_key, 'holder_node_id', l.holder,
    'granted_unix_ms', l.granted_at, 'expires_unix_ms', l.expires_at, 'renewals', l.renewals);

CREATE OR REPLACE FUNCTION mesh_end_lease(l mesh_exec_leases, new_state text, actor text, ended bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$
  UPDATE mesh_exec_leases SET state = new_state, ended_at = ended WHERE scope_id = l.scope_id AND scope_key = l.scope_key;
  SELECT mesh_log(l.scope_id, actor, 'lease.' || new_state, l.scope_key, jsonb_build_object(
    'lease_id', l.lease_id::text, 'scope_key', l.scope_key, 'holder_node_id', l.holder, 'ended_unix_ms', ended));
$$;

CREATE OR REPLACE FUNCTION mesh_extend_lease(l mesh_exec_leases, lease_ms bigint) RETURNS mesh_exec_leases
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE mesh_exec_leases m SET expires_at = mesh_now() + lease_ms, renewals = m.renewals + 1
    WHERE m.scope_id = l.scope_id AND m.scope_key = l.scope_key RETURNING * INTO l;
  UPDATE mesh_audit SET at = l.expires_at - lease_ms, detail = mesh_lease_detail(l) WHERE id = l.audit_id;
  RETURN l;
END $$;

CREATE OR REPLACE FUNCTION mesh_grant(scope text, key text, claimer text, lease_ms bigint, OUT refusal text, OUT lease mesh_exec_leases)
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
CREATE OR REPLACE FUNCTION mesh_use_lease(action text, scope text, id bigint, key text, claimer text, actor text, lease_ms bigint,
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

-- Marks a bounded number of expired leases, so that they cannot become active again.
CREATE OR REPLACE FUNCTION mesh_expire_leases(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
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
