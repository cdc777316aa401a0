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
  maxPageBytes,
  outcomeOf,
  pageOf,
  takePage,
  toMessage,
} from '../message-rows.js'
import {type Database, type Query, statement} from './database.js'
import {type Answer, answerOf, Lane, valuesOf} from './lane.js'
import {requireNode} from './leases.js'

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

const sql = {
  deliver: statement(
    'SELECT * FROM mesh_deliver($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)',
  ),
  deliverAll: statement(
    `SELECT * FROM mesh_deliver_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
  ),
  claim: statement('SELECT refusal, now, (message).* FROM mesh_claim($1, $2, $3, $4, $5, $6, $7)'),
  claimAll: statement(`SELECT c.refusal, c.now, (c.message).* FROM unnest($1::jsonb[]) WITH ORDINALITY AS r (query, no),
  jsonb_to_record(query) AS q (scope text, claimer text, receiver text, exclude bigint[], senders text[], types text[]),
  LATERAL mesh_claim(scope, claimer, receiver, exclude, senders, types, $2) c ORDER BY no`),
  settle: statement('SELECT refusal FROM mesh_settle($1, $2, $3, $4, $5)'),
  settleAll:
    statement(`SELECT s.refusal FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) WITH ORDINALITY
  AS r (a, b, c, d, e, no), LATERAL mesh_settle(a, b, c, d, e) s ORDER BY no`),
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
  refusal: string | null
  message_id: number
  is_duplicate: boolean
}

/** Deliveries, claims and acknowledgements, each merged into one statement at a time, and dead messages. */
export class Messages {
  readonly #database: Database
  readonly #limits: StoreLimits
  readonly #deliveries: Lane<{scope: Scope; draft: MessageDraft}, Delivered>
  readonly #claims: Lane<{scope: Scope; query: ClaimQuery}, StoredMessage | undefined>
  readonly #settlements: Lane<Settlement, void>

  constructor(database: Database, limits: StoreLimits) {
    this.#database = database
    this.#limits = limits
    const max = requestsAtOnce
    this.#deliveries = new Lane({run: (requests) => this.#deliver(requests), max})
    this.#claims = new Lane({run: (requests) => this.#claim(requests), max})
    this.#settlements = new Lane({run: (requests) => this.#settle(requests), max})
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

  async #deliver(requests: readonly {scope: Scope; draft: MessageDraft}[]): Promise<Answer<Delivered>[]> {
    const {maxMessages, maxMessagesPerReceiver} = this.#limits
    const rows = requests.map(({scope, draft}) => [
      ...[scope, draft.sender_agent_id, draft.receiver_agent_id, draft.message_type, draft.priority],
      ...[draft.privacy_class, draft.task_kind, draft.idempotency_key, digestOf(draft)],
      ...[draft.model_id, draft.traceparent, draft.sender_node_id, draft.jwe_payload, Buffer.from(draft.payload)],
      draft.requirements && JSON.stringify(draft.requirements),
    ])
    const limits = [maxMessages, maxMessagesPerReceiver]
    const found = await this.#database.query<Delivery>(rows.length === 1 ? sql.deliver : sql.deliverAll, [
      ...limits,
      ...valuesOf(rows),
    ])
    return found.map(({refusal, message_id, is_duplicate}) => {
      if (refusal === 'idempotency_key_reused') return {error: new SvcError(refusal, {message: message_id})}
      if (refusal !== null)
        return {
          error: new SvcError('inbox_full', {limit: refusal === 'scope_full' ? maxMessages : maxMessagesPerReceiver}),
        }
      return {value: {accepted: true, message_id, ...(is_duplicate ? {duplicate: true} : {})}}
    })
  }

  async #claim(requests: readonly {scope: Scope; query: ClaimQuery}[]): Promise<Answer<StoredMessage | undefined>[]> {
    const queries = requests.map(({scope, query: {receiver, claimer, exclude, excludeSenders: senders, types}}) => ({
      ...{scope, claimer, receiver, exclude, senders, types},
    }))
    const isOne = queries.length === 1
    const values = isOne ? Object.values(queries[0] ?? {}) : [queries.map((query) => JSON.stringify(query))]
    const rows = await this.#database.query<Row & {refusal: string | null}>(isOne ? sql.claim : sql.claimAll, [
      ...values,
      this.#limits.leaseMs,
    ])
    return rows.map((row, i) =>
      answerOf(() => {
        requireNode(row.refusal, requests[i]?.query.claimer)
        return row.id === null ? undefined : toMessage(withText(row), row.now)
      }),
    )
  }

  /** In order of the ids, so that batches of two processes do not deadlock. */
  async #settle(requests: readonly Settlement[]): Promise<Answer<void>[]> {
    const sorted = [...requests.entries()].sort(([, a], [, b]) => a.message - b.message)
    const values = sorted.map(([, {scope, receiver, message, claimer, renewMs}]) => [
      scope,
      receiver,
      message,
      claimer,
      renewMs,
    ])
    const statement = values.length === 1 ? sql.settle : sql.settleAll
    const rows = await this.#database.query<{refusal: string | null}>(statement, valuesOf(values))
    const answers: Answer<void>[] = []
    for (const [row, [i, {message, claimer}]] of sorted.entries())
      answers[i] = answerOf(() => {
        const refusal = rows[row]?.refusal ?? null
        if (refusal === 'message_not_found') throw new SvcError(refusal, {message: String(message)})
        if (refusal === 'not_lease_holder') throw new SvcError(refusal, {what: `the claim on message ${message}`})
        requireNode(refusal, claimer)
      })
    return answers
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

const withText = (row: Row): MessageRow & {now: number} => ({...row, payload: row.payload.toString()})

async function log(query: Query, row: Row, actor: string, action: string): Promise<void> {
  const {scope, target, detail} = entryOf(row)
  await query(sql.log, [scope, actor, action, target, JSON.stringify(detail)])
}
