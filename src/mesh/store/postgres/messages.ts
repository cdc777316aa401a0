import {SvcError} from '../../../errors/index.js'
import type {
  DeadMessage,
  DeadOutcome,
  Delivered,
  MessageDraft,
  QueueStats,
  StoredMessage,
} from '../../protocol/message.js'
import type {PageQuery} from '../../protocol/page-query.js'
import type {ClaimQuery, Page, PeekQuery, Scope, StoreLimits} from '../mesh-store.js'
import {
  digestOf,
  entryOf,
  type MessageRow,
  maxAttempts,
  maxPageBytes,
  outcomeOf,
  pageOf,
  takePage,
  toMessage,
} from '../message-rows.js'
import {type Database, type Query, statement} from './database.js'
import {type Answer, answerEach, answerOf, compare, Lane, Turn, transpose} from './lane.js'
import {requireNode} from './leases.js'
import {now} from './schema.js'

/** Row as PostgreSQL returns it, with the store's time. */
type Row = Omit<MessageRow, 'payload'> & {payload: Buffer; now: number}

/**
 * Page of messages whose total size exceeds a limit by at most one message.

 */
const page = (condition: string, order: 'ASC' | 'DESC') =>
  statement(
    `SELECT m.*, mesh_now() AS now FROM (
  SELECT id, sum(octet_length(payload) + coalesce(octet_length(jwe), 0)) OVER (ORDER BY id ${order}) -
    octet_length(payload) - coalesce(octet_length(jwe), 0) AS before
  FROM (SELECT id, payload, jwe FROM mesh_messages WHERE scope_id = $1 AND id < $2 AND ${condition} ORDER BY id ${order} LIMIT $3) m
) p JOIN mesh_messages m USING (id) WHERE before <= $4 ORDER BY id ${order}`,
  )

const inInbox = 'receiver = $5 AND acked_at IS NULL AND dead_at IS NULL AND ($6::text[] IS NULL OR type = ANY ($6))'
const isOpen = 'scope_id = $1 AND acked_at IS NULL AND dead_at IS NULL'
const isWaiting = `${isOpen} AND (holder IS NULL OR lease_expires <= (SELECT mesh_now()))`

/** True if a node may claim messages. */
const isReady = `left_at IS NULL AND NOT quarantined AND NOT mesh_in_maintenance(n, now)`

const sql = {
  deliver: statement(
    'SELECT * FROM mesh_deliver($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)',
  ),
  // Ids are drawn while the inboxes are locked. None are drawn if an inbox has no room.
  deliverAll: statement(`WITH inboxes AS (
  INSERT INTO mesh_inboxes AS i (scope_id, receiver, used, used_at)
    SELECT scope, inbox, size, ${now} FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS r (scope, inbox, size, most)
    WHERE size <= most
    ON CONFLICT (scope_id, receiver) DO UPDATE SET used = i.used + excluded.used, used_at = excluded.used_at
    WHERE i.used + excluded.used <= CASE i.receiver WHEN '' THEN $5::bigint ELSE $6 END RETURNING 1),
drawn AS MATERIALIZED (
  SELECT nextval('mesh_message_id') AS id, r.* FROM unnest($7::text[], $8::text[], $9::text[], $10::text[], $11::smallint[], $12::text[],
    $13::text[], $14::text[], $15::bytea[], $16::text[], $17::text[], $18::text[], $19::text[], $20::bytea[], $21::jsonb[]) AS r
  WHERE (SELECT count(*) FROM inboxes) = cardinality($1)),
added AS (
  INSERT INTO mesh_messages (id, scope_id, sender, receiver, type, priority, privacy_class, task_kind, idem_key, body_sha256, model_id,
    traceparent, sender_node, jwe, payload, requirements, created_at)
  SELECT *, ${now} FROM drawn ON CONFLICT DO NOTHING RETURNING id)
SELECT ARRAY(SELECT id FROM drawn) AS drawn, ARRAY(SELECT id FROM added) AS added`),
  claim: statement('SELECT refusal, now, (message).* FROM mesh_claim($1, $2, $3, $4, $5, $6, $7)'),
  // Requests with the same receiver and filters, which are numbered by their place, take the first messages in turn. The
  // nodes that take some are locked, so that they do not change before the end of the statement.
  claimAll: statement(`WITH r AS MATERIALIZED (
  SELECT q.*, ${now} AS now, EXISTS (
    SELECT FROM mesh_messages m WHERE m.scope_id = scope AND m.holder = claimer AND m.receiver = q.receiver
      AND (excluded IS NULL OR id <> ALL (excluded::bigint[]))) AS is_holder
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) WITH ORDINALITY
    AS q (scope, claimer, receiver, excluded, place, no)),
waiting AS MATERIALIZED (
  SELECT m.*, row_number() OVER (PARTITION BY scope, receiver ORDER BY priority DESC, id) AS place
  FROM unnest($6::text[], $7::text[], $8::bigint[], $9::text[], $10::text[]) AS g (in_scope, inbox, size, senders, types), LATERAL (
    SELECT in_scope AS scope, receiver, priority, id, privacy_class, requirements FROM mesh_messages
    WHERE scope_id = in_scope AND receiver = inbox AND acked_at IS NULL AND dead_at IS NULL
      AND (holder IS NULL OR lease_expires <= ${now})
      AND (senders IS NULL OR sender <> ALL (senders::text[]))
      AND (types IS NULL OR type = ANY (types::text[]))
    ORDER BY priority DESC, id LIMIT size FOR UPDATE SKIP LOCKED) m),
chosen AS MATERIALIZED (
  SELECT no, claimer, now, id FROM r JOIN waiting USING (scope, receiver, place)
    JOIN mesh_nodes n ON scope_id = scope AND node_id = claimer
  WHERE NOT is_holder AND ${isReady} AND (excluded IS NULL OR id <> ALL (excluded::bigint[]))
    AND (privacy_class IS NULL OR mesh_is_allowed(privacy_class, visibility, trust_tier))
    AND (requirements IS NULL OR mesh_meets(capabilities, requirements))
  FOR SHARE OF n),
claimed AS (
  UPDATE mesh_messages m SET holder = claimer, lease_expires = now + $11::bigint, attempts = attempts + 1, tried_at = now
  FROM chosen WHERE m.id = chosen.id AND attempts < ${maxAttempts} RETURNING no, m.*)
SELECT now, c.*, CASE WHEN c.id IS NULL THEN coalesce((
    SELECT CASE WHEN ${isReady} THEN 'ready' ELSE 'barred' END FROM mesh_nodes n
    WHERE scope_id = scope AND node_id = claimer AND left_at IS NULL), 'unknown_node') END AS state,
  c.id IS NULL AND (is_holder OR EXISTS (
    SELECT FROM waiting w WHERE w.scope = r.scope AND w.receiver = r.receiver AND w.id NOT IN (SELECT id FROM claimed))) AS may_have_more
FROM r LEFT JOIN claimed c USING (no) ORDER BY r.no`),
  settle: statement('SELECT refusal FROM mesh_settle($1, $2, $3, $4, $5)'),
  // Rows are locked in the order of their ids, so that batches of two processes do not deadlock.
  ackAll:
    statement(`UPDATE mesh_messages SET acked_at = ${now}, holder = NULL, lease_expires = NULL, payload = '', jwe = NULL
WHERE id = ANY ($1::bigint[]) AND scope_id = ($2::text[])[array_position($1, id)] AND receiver = ($3::text[])[array_position($1, id)]
  AND acked_at IS NULL AND (holder IS NULL OR lease_expires <= ${now}
    OR coalesce(holder = ($4::text[])[array_position($1, id)], true)) RETURNING id`),
  peek: {ASC: page(inInbox, 'ASC'), DESC: page(inInbox, 'DESC')},
  dead: page('dead_at IS NOT NULL AND acked_at IS NULL', 'DESC'),
  find: statement(`SELECT id, scope_id, receiver, type, attempts, acked_at, dead_at FROM mesh_messages WHERE id = ANY ($1) AND scope_id = $2
ORDER BY id FOR UPDATE`),
  reserve: statement('SELECT mesh_reserve($1, $2, $3, $4) AS has_room'),
  revive: statement('UPDATE mesh_messages SET dead_at = NULL, attempts = 0, tried_at = NULL WHERE id = $1'),
  drop: statement('SELECT mesh_settle($1, $2, $3, NULL, NULL)'),
  log: statement('SELECT mesh_log($1, $2, $3, $4, $5)'),
  countAll: statement(`SELECT count(*) AS count FROM (SELECT FROM mesh_messages WHERE ${isWaiting} LIMIT $2) m`),
  countOf: statement(
    `SELECT count(*) AS count FROM (SELECT FROM mesh_messages WHERE ${isWaiting} AND receiver = $3 LIMIT $2) m`,
  ),
  stats: statement(
    `SELECT task_kind, priority, count(*) AS count, min(created_at) AS oldest FROM mesh_messages WHERE ${isWaiting} GROUP BY 1, 2`,
  ),
  countDead: statement(
    'SELECT count(*) AS count FROM mesh_messages WHERE scope_id = $1 AND dead_at IS NOT NULL AND acked_at IS NULL',
  ),
}

/** Maximum number of requests per statement. */
const requestsAtOnce = 128

/** Acknowledgement or, with a duration (ms), renewal of a claim. */
interface Settlement {
  scope: Scope
  receiver: string
  message: number
  claimer?: string | undefined
  renewMs?: number
}

/** Waiting messages of a kind and priority. */
interface Group {
  task_kind: string | null
  priority: number
  count: number
  oldest: number
}

interface Delivery {
  scope: Scope
  draft: MessageDraft
}

interface DeliveryRow {
  refusal: string | null
  message_id: number
  is_duplicate: boolean
}

interface Claim {
  scope: Scope
  query: ClaimQuery
}

/** Answer to one of several claims: a message if the state of the node is null. */
type ClaimRow = Row & {state: 'ready' | 'barred' | 'unknown_node' | null; may_have_more: boolean}

/** Deliveries, claims and acknowledgements, each merged into one statement at a time, and dead messages. */
export class Messages {
  readonly #database: Database
  readonly #limits: StoreLimits
  readonly #deliveries: Lane<Delivery, Delivered>
  readonly #claims: Lane<Claim, StoredMessage | undefined>
  readonly #settlements: Lane<Settlement, void>

  constructor(database: Database, limits: StoreLimits) {
    this.#database = database
    this.#limits = limits
    const shared = {max: requestsAtOnce, turn: new Turn()}
    this.#deliveries = new Lane({run: (requests) => this.#deliver(requests), ...shared})
    this.#claims = new Lane({run: (requests) => this.#claim(requests), ...shared})
    this.#settlements = new Lane({run: (requests) => this.#settle(requests), ...shared})
  }

  get depth(): number {
    return this.#deliveries.depth + this.#claims.depth + this.#settlements.depth
  }

  deliver(scope: Scope, draft: MessageDraft): Promise<Delivered> {
    return this.#deliveries.add({scope, draft})
  }

  claim(scope: Scope, query: ClaimQuery): Promise<StoredMessage | undefined> {
    return this.#claims.add({scope, query})
  }

  renewClaim(scope: Scope, claim: {receiver: string; message: number; claimer: string}): Promise<void> {
    return this.#settlements.add({scope, ...claim, renewMs: this.#limits.leaseMs})
  }

  ack(scope: Scope, ack: {receiver: string; message: number; claimer?: string | undefined}): Promise<void> {
    return this.#settlements.add({scope, ...ack})
  }

  async peek(
    scope: Scope,
    {receiver, limit, before = Number.MAX_SAFE_INTEGER, types, order, maxBytes = maxPageBytes}: PeekQuery,
  ): Promise<StoredMessage[]> {
    const rows = await this.#database.query<Row>(sql.peek[order === 'asc' ? 'ASC' : 'DESC'], [
      ...[scope, before, limit, maxBytes],
      ...[receiver, types],
    ])
    return takePage(rows.map(withText), {limit, maxBytes}).taken.map((row) => toMessage(row, row.now))
  }

  async listDead(scope: Scope, query: PageQuery & Pick<PeekQuery, 'maxBytes'>): Promise<Page<DeadMessage>> {
    const {limit, before = Number.MAX_SAFE_INTEGER, maxBytes = maxPageBytes} = query
    // One more row shows whether there is a next page.
    const found = await this.#database.query<Row>(sql.dead, [scope, before, limit + 1, maxBytes])
    const {taken, isCut} = takePage(found.map(withText), {limit, maxBytes})
    return pageOf(
      taken.map((row) => ({...toMessage(row, row.now), dead_unix_ms: row.dead_at as number})),
      isCut,
    )
  }

  retryDead(scope: Scope, ids: readonly number[], actor: string): Promise<DeadOutcome> {
    return this.#database.transaction(async (query) => {
      const rows = await query<Row>(sql.find, [ids, scope])
      const open = rows.filter(({acked_at}) => acked_at === null)
      const dead = open.filter(({dead_at}) => dead_at !== null)
      await this.#reserve(
        query,
        scope,
        dead.map(({receiver}) => receiver),
      )
      for (const row of dead) {
        await query(sql.revive, [row.id])
        await log(query, row, actor, 'message.retried')
      }
      return outcomeOf(ids, open)
    })
  }

  dropDead(scope: Scope, ids: readonly number[], actor: string): Promise<DeadOutcome> {
    return this.#database.transaction(async (query) => {
      const rows = await query<Row>(sql.find, [ids, scope])
      const given = rows.filter(({dead_at}) => dead_at !== null)
      for (const row of given) {
        if (row.acked_at !== null) continue
        await query(sql.drop, [scope, row.receiver, row.id])
        await log(query, row, actor, 'message.dropped')
      }
      return outcomeOf(ids, given)
    })
  }

  async countPending(scope: Scope, {receiver, limit}: {receiver?: string | undefined; limit: number}): Promise<number> {
    const {count} =
      receiver === undefined
        ? await this.#database.one<{count: number}>(sql.countAll, [scope, limit])
        : await this.#database.one<{count: number}>(sql.countOf, [scope, limit, receiver])
    return count
  }

  async stats(scope: Scope): Promise<QueueStats> {
    const groups = await this.#database.query<Group>(sql.stats, [scope])
    const {count: dead} = await this.#database.one<{count: number}>(sql.countDead, [scope])
    const stats: QueueStats = {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: dead}
    if (groups.length > 0) stats.oldest_pending_unix_ms = Math.min(...groups.map(({oldest}) => oldest))
    for (const {task_kind: kind, priority, count} of groups) {
      stats.pending_count += count
      stats.pending_by_priority[priority] = (stats.pending_by_priority[priority] ?? 0) + count
      if (kind !== null) stats.pending_by_kind[kind] = (stats.pending_by_kind[kind] ?? 0) + count
    }
    return stats
  }

  async #deliver(requests: readonly Delivery[]): Promise<Answer<Delivered>[]> {
    if (requests.length === 1) return Promise.all(requests.map((request) => this.#deliverOne(request)))
    const {maxMessages, maxMessagesPerReceiver} = this.#limits
    const inboxes = inboxesOf(requests)
    const values = [
      ...[inboxes.map(({scope}) => scope), inboxes.map(({receiver}) => receiver), inboxes.map(({size}) => size)],
      inboxes.map(({receiver}) => (receiver === '' ? maxMessages : maxMessagesPerReceiver)),
      ...[maxMessages, maxMessagesPerReceiver, ...transpose(requests.map(columnsOf))],
    ]
    const {drawn, added} = await this.#database.one<{drawn: number[]; added: number[]}>(sql.deliverAll, values)
    const ids = new Set(added)
    // The others are repeated, or the limits of their inboxes are almost reached.
    return answerEach(requests, (request, i) => {
      const id = drawn[i] ?? 0
      return ids.has(id) ? {value: {accepted: true, message_id: id}} : this.#deliverOne(request)
    })
  }

  async #deliverOne(request: Delivery): Promise<Answer<Delivered>> {
    const {maxMessages, maxMessagesPerReceiver} = this.#limits
    const values = [maxMessages, maxMessagesPerReceiver, ...columnsOf(request)]
    const {refusal, message_id, is_duplicate} = await this.#database.one<DeliveryRow>(sql.deliver, values)
    if (refusal === 'idempotency_key_reused') return {error: new SvcError(refusal, {message: message_id})}
    if (refusal !== null)
      return {
        error: new SvcError('inbox_full', {limit: refusal === 'scope_full' ? maxMessages : maxMessagesPerReceiver}),
      }
    return {value: {accepted: true, message_id, ...(is_duplicate ? {duplicate: true} : {})}}
  }

  async #claim(requests: readonly Claim[]): Promise<Answer<StoredMessage | undefined>[]> {
    if (requests.length === 1) return Promise.all(requests.map((request) => this.#claimOne(request)))
    const {together, groups} = groupsOf(requests)
    const rows = await this.#database.query<ClaimRow>(sql.claimAll, [
      ...transpose(
        together.map(({scope, query: {claimer, receiver, exclude}, place}) => [
          ...[scope, claimer, receiver, exclude && arrayText(exclude), place],
        ]),
      ),
      ...transpose(
        groups.map(({scope, query: {receiver, excludeSenders, types}, size}) => [
          ...[scope, receiver, size, excludeSenders && arrayText(excludeSenders), types && arrayText(types)],
        ]),
      ),
      this.#limits.leaseMs,
    ])
    const found = new Map(together.map(({query}, i) => [query, rows[i]]))
    return answerEach(requests, (request) => {
      const row = found.get(request.query)
      if (row?.state === null) return {value: toMessage(withText(row), row.now)}
      if (row === undefined || (row.state === 'ready' && row.may_have_more)) return this.#claimOne(request)
      return row.state === 'unknown_node'
        ? {error: new SvcError(row.state, {node: request.query.claimer})}
        : {value: undefined}
    })
  }

  async #claimOne({
    scope,
    query: {claimer, receiver, exclude, excludeSenders, types},
  }: Claim): Promise<Answer<StoredMessage | undefined>> {
    const values = [scope, claimer, receiver, exclude, excludeSenders, types, this.#limits.leaseMs]
    const row = await this.#database.one<Row & {refusal: string | null}>(sql.claim, values)
    return answerOf(() => {
      requireNode(row.refusal, claimer)
      return row.id === null ? undefined : toMessage(withText(row), row.now)
    })
  }

  async #settle(requests: readonly Settlement[]): Promise<Answer<void>[]> {
    if (requests.length === 1) return Promise.all(requests.map((request) => this.#settleOne(request)))
    const acks = new Map(
      requests.filter(({renewMs}) => renewMs === undefined).map((request) => [request.message, request]),
    )
    const values = [...acks.values()].map(({message, scope, receiver, claimer}) => [message, scope, receiver, claimer])
    const rows = acks.size === 0 ? [] : await this.#database.query<{id: number}>(sql.ackAll, transpose(values))
    const acknowledged = new Set(rows.map(({id}) => acks.get(id)))
    return answerEach(requests, (request) =>
      acknowledged.has(request) ? {value: undefined} : this.#settleOne(request),
    )
  }

  async #settleOne({scope, receiver, message, claimer, renewMs}: Settlement): Promise<Answer<void>> {
    const values = [scope, receiver, message, claimer, renewMs]
    const {refusal} = await this.#database.one<{refusal: string | null}>(sql.settle, values)
    return answerOf(() => {
      if (refusal === 'message_not_found') throw new SvcError(refusal, {message: String(message)})
      if (refusal === 'not_lease_holder') throw new SvcError(refusal, {what: `the claim on message ${message}`})
      requireNode(refusal, claimer)
    })
  }

  /** @param receivers one entry per message @throws inbox_full if the messages would exceed a limit */
  async #reserve(query: Query, scope: Scope, receivers: readonly string[]): Promise<void> {
    const {maxMessages, maxMessagesPerReceiver} = this.#limits
    if (receivers.length === 0) return
    const reserve = async (inbox: string, more: number, limit: number) =>
      (await query<{has_room: boolean}>(sql.reserve, [scope, inbox, more, limit]))[0]?.has_room
    // The row of the scope first, like deliveries.
    const hasRoom = await reserve('', receivers.length, maxMessages)
    for (const receiver of [...new Set(receivers)].sort()) {
      const more = receivers.filter((each) => each === receiver).length
      if (!(await reserve(receiver, more, maxMessagesPerReceiver)))
        throw new SvcError('inbox_full', {limit: maxMessagesPerReceiver})
    }
    if (!hasRoom) throw new SvcError('inbox_full', {limit: maxMessages})
  }
}

/** Columns of a message, in their order in the statements. */
const columnsOf = ({scope, draft}: Delivery): unknown[] => [
  ...[scope, draft.sender_agent_id, draft.receiver_agent_id, draft.message_type, draft.priority],
  ...[draft.privacy_class, draft.task_kind, draft.idempotency_key, digestOf(draft)],
  ...[draft.model_id, draft.traceparent, draft.sender_node_id, draft.jwe_payload, Buffer.from(draft.payload)],
  draft.requirements && JSON.stringify(draft.requirements),
]

interface Inbox {
  scope: Scope
  /** Empty for all inboxes of the scope. */
  receiver: string
  size: number
}

/**
 * Inboxes to which messages are added. They are sorted, so that deliveries lock them in the same order: first the row of
 * the scope, which serialises its deliveries.
 */
function inboxesOf(requests: readonly Delivery[]): Inbox[] {
  const inboxes = new Map<string, Inbox>()
  for (const {scope, draft} of requests)
    for (const receiver of ['', draft.receiver_agent_id]) {
      const key = JSON.stringify([scope, receiver])
      const inbox = inboxes.get(key)
      if (inbox === undefined) inboxes.set(key, {scope, receiver, size: 1})
      else inbox.size += 1
    }
  return [...inboxes.values()].sort((a, b) => compare(a.scope, b.scope) || compare(a.receiver, b.receiver))
}

interface ClaimGroup extends Claim {
  size: number
  claimers: Set<string>
}

/**
 * Groups claims that can be answered together: those of different nodes with the same receiver and filters. Their place
 * in the group starts at 1.
 */
function groupsOf(requests: readonly Claim[]): {together: (Claim & {place: number})[]; groups: ClaimGroup[]} {
  const groups = new Map<string, ClaimGroup>()
  const together: (Claim & {place: number})[] = []
  for (const {scope, query} of requests) {
    const {receiver, claimer, types, excludeSenders} = query
    const key = JSON.stringify([scope, receiver])
    const group = groups.get(key) ?? {scope, query, size: 0, claimers: new Set()}
    const isSame = isEqual(group.query.types, types) && isEqual(group.query.excludeSenders, excludeSenders)
    if (!isSame || group.claimers.has(claimer)) continue
    group.size += 1
    group.claimers.add(claimer)
    groups.set(key, group)
    together.push({scope, query, place: group.size})
  }
  return {together, groups: [...groups.values()]}
}

const isEqual = (a: readonly string[] = [], b: readonly string[] = []) =>
  a.length === b.length && a.every((each, i) => each === b[i])

/** Array of PostgreSQL as text. */
const arrayText = (values: readonly (string | number)[]) => `{${values.map((value) => JSON.stringify(String(value)))}}`

const withText = (row: Row): MessageRow & {now: number} => ({...row, payload: row.payload.toString()})

async function log(query: Query, row: Row, actor: string, action: string): Promise<void> {
  const {scope, target, detail} = entryOf(row)
  await query(sql.log, [scope, actor, action, target, JSON.stringify(detail)])
}
