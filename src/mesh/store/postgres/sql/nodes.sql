-- Key of the advisory lock of a node. It does not write rows, so that a claim that finds nothing writes nothing.
CREATE OR REPLACE FUNCTION mesh_node_lock(scope text, node text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN hashtextextended(scope || E'\n' || node, 0);

-- Finds a node that has not left, which does not change before the end of the transaction.
CREATE OR REPLACE FUNCTION mesh_node(scope text, node text) RETURNS mesh_nodes LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  found_node mesh_nodes;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(mesh_node_lock(scope, node));
  SELECT * INTO found_node FROM mesh_nodes WHERE scope_id = scope AND node_id = node AND left_at IS NULL;
  RETURN found_node;
END $$;

-- Locks a node for a change, even if it does not exist yet. Returns the time.
CREATE OR REPLACE FUNCTION mesh_lock_node(scope text, node text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(mesh_node_lock(scope, node));
  PERFORM FROM mesh_node_seen WHERE scope_id = scope AND node_id = node FOR UPDATE;
  RETURN mesh_now();
END $$;

CREATE OR REPLACE FUNCTION mesh_in_maintenance(node mesh_nodes, t bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN node.maintenance AND coalesce(node.maintenance_until > t, true);

-- Removes a node that is locked, ends its leases and releases its claims. One in quarantine is kept without its record.
CREATE OR REPLACE FUNCTION mesh_leave(scope text, node text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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
  PERFORM FROM mesh_messages WHERE scope_id = scope AND holder = node ORDER BY id FOR UPDATE;
  UPDATE mesh_messages SET holder = NULL, lease_expires = NULL WHERE scope_id = scope AND holder = node;
END $$;
