-- Claims the next message for each of several nodes: $1 scopes, $2 nodes, $3 receivers, $4 excluded ids, $5 excluded senders, $6 types,
-- $7 duration of a claim. Requests with the same receiver take the first messages in turn. The nodes that take some are locked, so
-- that they do not change before the end of the statement. 'again': the request must be sent alone, because it does not suit its
-- message, its message is dead now, or its node holds a message or has sent several requests.
WITH r AS MATERIALIZED (
  SELECT q.*, n.*, row_number() OVER (PARTITION BY scope, inbox, is_first ORDER BY no) AS place,
    count(*) OVER (PARTITION BY scope, inbox, is_first) AS size
  FROM (
    SELECT q.*, :now AS now, excluded::bigint[] AS ids, excluded_senders::text[] AS senders, only_types::text[] AS types,
      row_number() OVER (PARTITION BY scope, inbox, claimer ORDER BY no) = 1 AS is_first
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
      AS q (scope, claimer, inbox, excluded, excluded_senders, only_types, no)) AS q
  -- With a limit, the planner looks up each node by its key.
  LEFT JOIN LATERAL (
    SELECT mesh_is_ready(n, now) AS is_ready, visibility, trust_tier, capabilities FROM mesh_nodes n
    WHERE scope_id = scope AND node_id = claimer AND left_at IS NULL LIMIT 1) AS n ON true),
own AS MATERIALIZED (
  SELECT no, m.* FROM r, LATERAL (
    SELECT id, coalesce(now - tried_at <= $7::bigint * :same_attempt, false) AS is_same_attempt FROM mesh_messages
    WHERE scope_id = scope AND holder = claimer AND receiver = inbox AND lease_expires > now AND acked_at IS NULL AND dead_at IS NULL
      AND mesh_includes(ids, senders, types, id, sender, type) ORDER BY priority DESC, id LIMIT 1) AS m),
waiting AS MATERIALIZED (
  SELECT m.*, row_number() OVER (PARTITION BY m.scope, m.inbox ORDER BY priority DESC, m.id) AS place
  FROM r, LATERAL (
    SELECT r.scope, r.inbox, id, sender, type, priority, privacy_class, requirements FROM mesh_messages
    WHERE scope_id = r.scope AND receiver = r.inbox AND acked_at IS NULL AND dead_at IS NULL
      AND (holder IS NULL OR lease_expires <= now) AND (size > 1 OR mesh_includes(ids, senders, types, id, sender, type)
        AND mesh_suits(visibility, trust_tier, capabilities, privacy_class, requirements))
    ORDER BY priority DESC, id LIMIT size FOR UPDATE SKIP LOCKED) AS m
  WHERE r.place = 1 AND is_first AND (size > 1 OR is_ready AND no NOT IN (SELECT no FROM own))),
chosen AS MATERIALIZED (
  SELECT no, claimer, now, coalesce(own.id, w.id) AS id, own.id IS NOT NULL AS is_own, coalesce(is_same_attempt, false) AS is_same_attempt
  FROM r LEFT JOIN own USING (no) LEFT JOIN waiting w ON own.id IS NULL AND (w.scope, w.inbox, w.place) = (r.scope, r.inbox, r.place),
    LATERAL (
      SELECT FROM mesh_nodes n WHERE scope_id = r.scope AND node_id = claimer AND mesh_is_ready(n, now) AND CASE
        WHEN own.id IS NOT NULL THEN cardinality($1) = 1
        ELSE w.id IS NOT NULL AND (size = 1 OR mesh_includes(ids, senders, r.types, w.id, w.sender, w.type)
          AND mesh_suits(n.visibility, n.trust_tier, n.capabilities, w.privacy_class, w.requirements)) END
      LIMIT 1 FOR SHARE) AS n
  WHERE is_first),
claimed AS (
  UPDATE mesh_messages m SET attempts = attempts + (NOT is_same_attempt AND attempts < :max_attempts)::integer,
    tried_at = CASE WHEN is_same_attempt OR attempts >= :max_attempts THEN tried_at ELSE now END,
    holder = CASE WHEN is_same_attempt OR attempts < :max_attempts THEN claimer END,
    lease_expires = CASE WHEN is_same_attempt OR attempts < :max_attempts THEN now + $7 END,
    dead_at = CASE WHEN NOT is_same_attempt AND attempts >= :max_attempts THEN now END
  FROM chosen WHERE m.id = chosen.id AND (NOT is_own OR holder = claimer AND acked_at IS NULL AND dead_at IS NULL) RETURNING no AS claim, m.*),
logged AS (
  INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail)
    SELECT dead_at, scope_id, 'store', 'message.dead', id::text,
      jsonb_build_object('receiver_agent_id', receiver, 'message_type', type, 'delivery_attempts', attempts)
    FROM claimed WHERE dead_at IS NOT NULL)
SELECT c.*, r.now, r.no, CASE
    WHEN c.dead_at IS NOT NULL THEN 'again'
    WHEN c.id IS NOT NULL THEN NULL
    WHEN is_ready IS NULL THEN 'unknown_node'
    WHEN is_ready AND (NOT is_first OR r.no IN (SELECT no FROM own) OR EXISTS (SELECT FROM waiting w
      WHERE w.scope = r.scope AND w.inbox = r.inbox AND w.id NOT IN (SELECT id FROM claimed))) THEN 'again' END AS refusal
FROM r LEFT JOIN claimed c ON claim = r.no
