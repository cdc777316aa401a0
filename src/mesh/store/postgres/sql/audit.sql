CREATE OR REPLACE FUNCTION mesh_log(scope text, actor text, action text, target text, detail jsonb) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail)
  VALUES (mesh_now(), scope, actor, action, target, detail) RETURNING id
$$;
