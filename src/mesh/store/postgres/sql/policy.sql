-- The two conditions below are in PL/pgSQL because SQL would be inlined, and then initialised in every claim.
CREATE OR REPLACE FUNCTION mesh_is_allowed(privacy_class text, visibility text, trust text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE privacy_class
    WHEN 'public' THEN visibility <> 'private'
    WHEN 'private' THEN visibility <> 'public'
    WHEN 'trusted' THEN visibility <> 'public'
    WHEN 'trusted_only' THEN visibility <> 'public' AND trust <> 'new'
    ELSE true END;
END $$;

-- The same as meetsRequirements in TypeScript: test/mesh/protocol/requirement-cases.ts tests both.
CREATE OR REPLACE FUNCTION mesh_meets(offered jsonb, needed jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM unnest(ARRAY[:hard_capabilities]) AS flag
      WHERE needed -> flag = 'true' AND offered -> flag IS DISTINCT FROM 'true')
    AND (needed -> 'prefer_gpu_compute' IS DISTINCT FROM 'true'
      OR EXISTS (SELECT FROM unnest(ARRAY[:accelerators]) AS flag WHERE offered -> flag = 'true'))
    AND coalesce((offered ->> 'min_vram_mb')::bigint, 0) >= coalesce((needed ->> 'min_vram_mb')::bigint, 0)
    AND coalesce((offered ->> 'cpu_cores')::bigint, (offered ->> 'min_cpu_cores')::bigint, 0)
      >= coalesce((needed ->> 'min_cpu_cores')::bigint, 0)
    AND coalesce(needed -> 'arch' = offered -> 'arch', needed -> 'arch' IS NULL)
    AND coalesce(needed -> 'device_class' = offered -> 'device_class', needed -> 'device_class' IS NULL)
    AND coalesce(offered -> 'labels', '[]') @> coalesce(needed -> 'labels', '[]');
END $$;

-- True if the filters of a claim include a message. A null list is not compared.
CREATE OR REPLACE FUNCTION mesh_includes(excluded bigint[], senders text[], types text[], id bigint, sender text, type text)
RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN (excluded IS NULL OR id <> ALL (excluded)) AND (senders IS NULL OR sender <> ALL (senders))
    AND (types IS NULL OR type = ANY (types));

-- True if a node may get a message.
CREATE OR REPLACE FUNCTION mesh_suits(visibility text, trust text, capabilities jsonb, privacy_class text, requirements jsonb)
RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN (privacy_class IS NULL OR mesh_is_allowed(privacy_class, visibility, trust))
    AND (requirements IS NULL OR mesh_meets(capabilities, requirements));

-- True if a node may claim messages.
CREATE OR REPLACE FUNCTION mesh_is_ready(node mesh_nodes, t bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN node.left_at IS NULL AND NOT node.quarantined AND NOT mesh_in_maintenance(node, t);

-- True if a message may be acknowledged or, with a duration, the claim on it may be renewed. A null claimer is not compared.
CREATE OR REPLACE FUNCTION mesh_may_settle(claimer text, lease_ms bigint, t bigint, holder text, lease_expires bigint,
  acked_at bigint, dead_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN acked_at IS NULL AND CASE
    WHEN lease_ms IS NULL THEN holder IS NULL OR lease_expires <= t OR coalesce(holder = claimer, true)
    ELSE dead_at IS NULL AND coalesce(holder = claimer AND lease_expires > t, false) END;
