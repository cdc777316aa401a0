-- Removes a bounded number of nodes that were not seen since a time, except those that are in use.
CREATE OR REPLACE FUNCTION mesh_purge_nodes(since bigint, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
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

-- Deletes a bounded number of inboxes that were not used since a time and are empty.
CREATE OR REPLACE FUNCTION mesh_purge_inboxes(since bigint, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
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

-- Deletes a bounded number of the oldest rows up to a time.
CREATE OR REPLACE FUNCTION mesh_remove(rows_of regclass, column_name text, until bigint, most integer) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  removed integer;
BEGIN
  EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %I <= $1 ORDER BY %I LIMIT $2 FOR UPDATE SKIP LOCKED))',
    rows_of, rows_of, column_name, column_name) USING until, most;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
