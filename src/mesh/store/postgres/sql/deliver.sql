-- Delivers messages: $1 and $2 limit the inboxes of a scope and of a receiver, the others are columns of the messages; with $18, their
-- inboxes are locked, and have room.
-- Ids are drawn while the inboxes are locked, so that ids of a scope are assigned in commit order. None are drawn if an inbox has
-- no room. 'again': the message must be delivered alone, because it may repeat one that this statement does not see.
WITH inboxes AS MATERIALIZED (
  SELECT scope, inbox, count(*) AS size FROM unnest($3::text[], $5::text[]) AS r (scope, receiver),
    LATERAL (VALUES (''), (receiver)) AS v (inbox) WHERE NOT $18::boolean
  -- In order, so that deliveries do not deadlock. The row of the scope is the first: it serialises all deliveries of the scope.
  GROUP BY scope, inbox ORDER BY scope COLLATE "C", inbox COLLATE "C"),
reserved AS (
  INSERT INTO mesh_inboxes AS i (scope_id, receiver, used, used_at)
    SELECT scope, inbox, size, :now FROM inboxes WHERE size <= CASE inbox WHEN '' THEN $1::bigint ELSE $2::bigint END
    ON CONFLICT (scope_id, receiver) DO UPDATE SET used = i.used + excluded.used, used_at = excluded.used_at
    WHERE i.used + excluded.used <= CASE i.receiver WHEN '' THEN $1 ELSE $2 END RETURNING 1),
r AS MATERIALIZED (
  SELECT CASE WHEN (SELECT count(*) FROM reserved) = (SELECT count(*) FROM inboxes) THEN nextval('mesh_message_id') END AS id, q.*
  FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::smallint[], $8::text[], $9::text[], $10::text[], $11::bytea[],
    $12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::jsonb[]) WITH ORDINALITY
    AS q (scope, sender, receiver, type, priority, privacy_class, task_kind, key, digest, model_id, traceparent, sender_node, jwe,
      payload, requirements, no)),
added AS (
  INSERT INTO mesh_messages (id, scope_id, sender, receiver, type, priority, privacy_class, task_kind, idem_key, body_sha256,
    model_id, traceparent, sender_node, jwe, payload, requirements, created_at)
  SELECT id, scope, sender, receiver, type, priority, privacy_class, task_kind, key, digest, model_id, traceparent, sender_node, jwe,
    payload, requirements, :now FROM r WHERE id IS NOT NULL ON CONFLICT DO NOTHING RETURNING id),
answers AS (
  SELECT no, id, digest, coalesce(id IN (SELECT id FROM added), false) AS is_added, scope, sender, receiver, key FROM r)
SELECT no, coalesce(known.id, a.id) AS message_id, NOT is_added AS is_duplicate, CASE
    WHEN is_added THEN NULL
    -- A repeated delivery is not refused.
    WHEN known.id IS NOT NULL THEN CASE WHEN known.body_sha256 IS DISTINCT FROM digest THEN 'idempotency_key_reused' END
    WHEN a.id IS NOT NULL OR cardinality($3) > 1 THEN 'again'
    ELSE 'full' END AS refusal
FROM answers a LEFT JOIN LATERAL (
  SELECT m.id, body_sha256 FROM mesh_messages m WHERE NOT is_added AND scope_id = scope AND m.sender = a.sender
    AND m.receiver = a.receiver AND idem_key = key LIMIT 1) AS known ON true
