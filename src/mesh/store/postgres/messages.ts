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
import {type Answer, answerOf, Lane, Mutex, transpose} from './lane.js'
import {requireNode} from './leases.js'
import {readSql} from './schema.js'

/** Row as PostgreSQL returns it, with the store's time. */
type Row = Omit<MessageRow, 'payload'> & {payload: Buffer; now: number}

/** Page of messages whose total size exceeds a limit by at most one message. */
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
  peek: {ASC: page(inInbox, 'ASC'), DESC: page(inInbox, 'DESC')},
  dead: page('dead_at IS NOT NULL AND acked_at IS NULL', 'DESC'),
  find: statement(`SELECT id, scope_id, receiver, type, attempts, acked_at, dead_at FROM mesh_messages WHERE id = ANY ($1) AND scope_id = $2
ORDER BY id FOR UPDATE`),
  reserve: statement('SELECT mesh_reserve($1, $2, $3, $4) AS has_room'),
  revive: statement('UPDATE mesh_messages SET dead_at = NULL, attempts = 0, tried_at = NULL WHERE id = $1'),
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

/** Columns of a request, which are the parameters of a statement. */
type Columns = readonly unknown[]

/** Answer to a request, by its position in the batch, from 1. Each statement has refusals of its own. */
interface AnswerRow {
  no: number
  refusal: string | null
}

interface DeliveryRow extends AnswerRow {
  message_id: number
  is_duplicate: boolean
}

interface Delivery {
  scope: Scope
  draft: MessageDraft
}

interface Claim {
  scope: Scope
  query: ClaimQuery
}

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

/** Deliveries, claims and acknowledgements, each merged into one statement at a time, and dead messages. */
export class Messages {
  readonly #database: Database
  readonly #limits: StoreLimits
  readonly #sql = {
    deliver: statement(readSql('deliver')),
    claim: statement(readSql('claim')),
    settle: statement(readSql('settle')),
  }
  readonly #deliveries: Lane<Delivery, Delivered>
  readonly #claims: Lane<Claim, StoredMessage | undefined>
  readonly #settlements: Lane<Settlement, void>

  constructor(database: Database, limits: StoreLimits) {
    this.#database = database
    this.#limits = limits
    const shared = {max: requestsAtOnce, mutex: new Mutex()}
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
      const dead = given.filter(({acked_at}) => acked_at === null)
      if (dead.length > 0)
        await query(this.#sql.settle, transpose(dead.map(({receiver, id}) => [scope, receiver, id, null, null])))
      for (const row of dead) await log(query, row, actor, 'message.dropped')
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

  async #deliver(requests: readonly Delivery[]): Promise<(Answer<Delivered> | undefined)[]> {
    const {maxMessages, maxMessagesPerReceiver} = this.#limits
    const values = [maxMessages, maxMessagesPerReceiver, ...transpose(requests.map(columnsOf))]
    const deliver = (query: Query, isReserved: boolean) =>
      query<DeliveryRow>(this.#sql.deliver, [...values, isReserved])
    const rows = await deliver(this.#database.query, false)
    if (rows[0]?.refusal === 'full') return this.#deliverToFull(requests, deliver)
    return deliveredOf(requests, rows)
  }

  /** Delivers a single message after the bounds of its inboxes were counted again. */
  async #deliverToFull(
    requests: readonly Delivery[],
    deliver: (query: Query, isReserved: boolean) => Promise<DeliveryRow[]>,
  ): Promise<(Answer<Delivered> | undefined)[]> {
    const {scope, draft} = requests[0] as Delivery
    try {
      const rows = await this.#database.transaction(async (query) => {
        await this.#reserve(query, scope, [draft.receiver_agent_id])
        return deliver(query, true)
      })
      return deliveredOf(requests, rows)
    } catch (error) {
      return [{error: error as Error}]
    }
  }

  async #claim(requests: readonly Claim[]): Promise<(Answer<StoredMessage | undefined> | undefined)[]> {
    const columns = requests.map(
      ({scope, query: {claimer, receiver, exclude, excludeSenders, types}}): Columns => [
        ...[scope, claimer, receiver],
        ...[exclude, excludeSenders, types].map((list) => list && arrayText(list)),
      ],
    )
    const values = [...transpose(columns), this.#limits.leaseMs]
    const rows = await this.#database.query<AnswerRow & Row>(this.#sql.claim, values)
    return answersOf(requests, rows, ({query}, row) => {
      requireNode(row.refusal, query.claimer)
      return row.id === null ? undefined : toMessage(withText(row), row.now)
    })
  }

  async #settle(requests: readonly Settlement[]): Promise<(Answer<void> | undefined)[]> {
    const columns = requests.map(
      ({scope, receiver, message, claimer, renewMs}): Columns => [...[scope, receiver, message, claimer, renewMs]],
    )
    const rows = await this.#database.query<AnswerRow>(this.#sql.settle, transpose(columns))
    return answersOf(requests, rows, ({message, claimer}, {refusal}) => {
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

/** Reads the answers to requests; undefined for those that must be sent again, alone. @param read throws a refusal */
function answersOf<In, Row extends AnswerRow, Out>(
  requests: readonly In[],
  rows: readonly Row[],
  read: (request: In, row: Row) => Out,
): (Answer<Out> | undefined)[] {
  const answers: (Answer<Out> | undefined)[] = requests.map(() => undefined)
  for (const row of rows)
    if (row.refusal !== 'again') answers[row.no - 1] = answerOf(() => read(requests[row.no - 1] as In, row))
  return answers
}

const deliveredOf = (requests: readonly Delivery[], rows: readonly DeliveryRow[]) =>
  answersOf(requests, rows, (_, {refusal, message_id, is_duplicate}): Delivered => {
    if (refusal === 'idempotency_key_reused') throw new SvcError(refusal, {message: message_id})
    return {accepted: true, message_id, ...(is_duplicate ? {duplicate: true} : {})}
  })

/** Columns of a message, in the order of the parameters. */
const columnsOf = ({scope, draft}: Delivery): Columns => [
  ...[scope, draft.sender_agent_id, draft.receiver_agent_id, draft.message_type, draft.priority],
  ...[draft.privacy_class, draft.task_kind, draft.idempotency_key, digestOf(draft)],
  ...[draft.model_id, draft.traceparent, draft.sender_node_id, draft.jwe_payload, Buffer.from(draft.payload)],
  draft.requirements && JSON.stringify(draft.requirements),
]

/** Array of PostgreSQL as text. */
const arrayText = (values: readonly (string | number)[]) => `{${values.map((value) => JSON.stringify(String(value)))}}`

const withText = (row: Row): MessageRow & {now: number} => ({...row, payload: row.payload.toString()})

async function log(query: Query, row: Row, actor: string, action: string): Promise<void> {
  const {scope, target, detail} = entryOf(row)
  await query(sql.log, [scope, actor, action, target, JSON.stringify(detail)])
}
