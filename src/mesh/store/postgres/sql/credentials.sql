-- Records the use of a token id. A refusal does not forget the ids of valid tokens, which could then be used again.
CREATE OR REPLACE FUNCTION mesh_use_token(id text, keep_until bigint, has_room boolean, OUT refusal text, OUT is_new boolean)
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
