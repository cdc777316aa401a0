import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {Delivered, MessageDraft, StoredMessage} from '../../protocol/message.js'
import type {PeekQuery, Scope, StoreLimits} from '../mesh-store.js'
import {type MessageRow, takePage, toMessage} from '../message-rows.js'
import type {Backlog} from './backlog.js'
import type {Counters} from './counters.js'
import {isOneOf, listed} from './json-lists.js'
import type {Transaction} from './transaction.js'

const prepare = (database: Database) => {
  const peekIn = (order: 'ASC' | 'DESC') =>
    database.prepare<object, MessageRow>(
      `SELECT * FROM mesh_messages WHERE scope_id = @scope AND receiver = @receiver AND acked_at IS NULL AND dead_at IS NULL
  AND id < @before AND ${isOneOf('type', '@types')} ORDER BY id ${order} LIMIT @limit`,
    )
  return {
    byKey: database.prepare<[string, string, string, string], {id: number; body_sha256: Buffer}>(
      'SELECT id, body_sha256 FROM mesh_messages WHERE scope_id = ? AND sender = ? AND receiver = ? AND idem_key = ?',
    ),
    insert: database.prepare(
      `INSERT INTO mesh_messages (id, scope_id, sender, receiver, type, priority, privacy_class, task_kind, created_at, idem_key,
  body_sha256, model_id, traceparent, sender_node, jwe, payload, requirements)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    peek: {asc: peekIn('ASC'), desc: peekIn('DESC')},
  }
}

interface MessageParts {
  backlog: Backlog
  counters: Counters
  limits: StoreLimits
}

export class Messages {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: MessageParts

  constructor(database: Database, parts: MessageParts) {
    this.#sql = prepare(database)
    this.#parts = parts
  }

  deliver(transaction: Transaction, scope: Scope, draft: MessageDraft, digest: Buffer | null): Delivered {
    const {backlog, counters} = this.#parts
    const {sender_agent_id: sender, receiver_agent_id: receiver, idempotency_key: key} = draft
    const known = key === undefined ? undefined : this.#sql.byKey.get(scope, sender, receiver, key)
    if (known !== undefined) {
      if (digest?.equals(known.body_sha256) !== true) throw new SvcError('idempotency_key_reused', {message: known.id})
      return {accepted: true, message_id: known.id, duplicate: true}
    }
    this.requireRoom(scope, [receiver])
    const id = counters.next(transaction, 'message_id')
    const {message_type, priority, privacy_class = null, task_kind = null, model_id = null} = draft
    const {traceparent = null, sender_node_id = null, jwe_payload = null, payload, requirements} = draft
    const routing = [message_type, priority, privacy_class, task_kind]
    const needed = requirements === undefined ? null : JSON.stringify(requirements)
    const content = [model_id, traceparent, sender_node_id, jwe_payload, payload, needed]
    this.#sql.insert.run(id, scope, sender, receiver, ...routing, transaction.now, key ?? null, digest, ...content)
    backlog.move(transaction, {scope_id: scope, receiver, task_kind, priority}, 'gone', 'waiting')
    return {accepted: true, message_id: id}
  }

  peek(
    scope: Scope,
    {receiver, limit, before = Number.MAX_SAFE_INTEGER, types, order = 'desc', maxBytes}: PeekQuery,
    now: number,
  ): StoredMessage[] {
    const rows = this.#sql.peek[order].iterate({scope, receiver, limit, before, types: listed(types)})
    return takePage(rows, {limit, maxBytes}).taken.map((row) => toMessage(row, now))
  }

  /** @param receivers one entry per new message @throws inbox_full if the messages would exceed a limit */
  requireRoom(scope: Scope, receivers: readonly string[]): void {
    const {backlog, limits} = this.#parts
    const {maxMessages, maxMessagesPerReceiver} = limits
    for (const receiver of new Set(receivers)) {
      const more = receivers.filter((each) => each === receiver).length
      if (backlog.open(scope, receiver) + more > maxMessagesPerReceiver)
        throw new SvcError('inbox_full', {limit: maxMessagesPerReceiver})
    }
    if (backlog.total(scope) + receivers.length > maxMessages) throw new SvcError('inbox_full', {limit: maxMessages})
  }
}
