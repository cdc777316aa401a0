-- Adds messages to an upper bound of the open messages of an inbox. The bound is counted again when it reaches the
-- limit. The row stays locked, so that no message is added before the end of the transaction.
CREATE OR REPLACE FUNCTION mesh_reserve(scope text, inbox text, more bigint, most bigint) RETURNS boolean
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
