-- Acknowledges messages or, with a duration, renews the claims on them: $1 scopes, $2 receivers, $3 ids, $4 claimers, $5 durations.
-- 'again': an earlier request is for the same message, or another process has changed it meanwhile.
WITH r AS MATERIALIZED (
  SELECT q.*, :now AS now, row_number() OVER (PARTITION BY id ORDER BY no) = 1 AS is_first,
    CASE WHEN lease_ms IS NOT NULL THEN coalesce((
      SELECT CASE WHEN quarantined THEN 'node_quarantined' ELSE '' END FROM mesh_nodes
      WHERE scope_id = scope AND node_id = claimer AND left_at IS NULL), 'unknown_node') ELSE '' END AS refusal
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY
    AS q (scope, inbox, id, claimer, lease_ms, no)
  -- Rows are locked in the order of their ids, so that statements of two processes do not deadlock.
  ORDER BY id),
settled AS (
  -- The payload is deleted; the digest suffices to recognise repeated deliveries.
  UPDATE mesh_messages m SET acked_at = CASE WHEN lease_ms IS NULL THEN now END, lease_expires = now + lease_ms,
    holder = CASE WHEN lease_ms IS NOT NULL THEN holder END,
    payload = CASE WHEN lease_ms IS NULL THEN '' ELSE payload END, jwe = CASE WHEN lease_ms IS NOT NULL THEN jwe END
  FROM r WHERE m.id = r.id AND m.scope_id = scope AND receiver = inbox AND is_first AND refusal = ''
    AND mesh_may_settle(claimer, lease_ms, now, holder, lease_expires, acked_at, dead_at) RETURNING no)
SELECT no, CASE
    WHEN no IN (SELECT no FROM settled) THEN NULL
    WHEN refusal <> '' THEN refusal
    ELSE coalesce((
      SELECT CASE
        WHEN NOT is_first OR mesh_may_settle(claimer, lease_ms, now, holder, lease_expires, acked_at, dead_at) THEN 'again'
        WHEN lease_ms IS NULL AND acked_at IS NOT NULL THEN ''
        WHEN acked_at IS NULL AND (lease_ms IS NULL OR dead_at IS NULL) THEN 'not_lease_holder'
      END FROM mesh_messages m WHERE m.id = r.id AND m.scope_id = scope AND receiver = inbox), 'message_not_found')
    END AS refusal
FROM r
