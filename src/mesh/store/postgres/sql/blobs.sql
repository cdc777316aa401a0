-- Stores a file or extends its time.
CREATE OR REPLACE FUNCTION mesh_put_blob(scope text, digest text, content bytea, ttl bigint, most bigint, counted bigint, at_once integer)
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
