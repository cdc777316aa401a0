import type {Database} from 'better-sqlite3'
import type {DeadMessage, DeadOutcome} from '../../protocol/message.js'
import type {PageQuery} from '../../protocol/page-query.js'
import type {Page, PeekQuery, Scope} from '../mesh-store.js'
import {entryOf, type MessageRow, outcomeOf, pageOf, takePage, toMessage} from '../message-rows.js'
import type {Audit} from './audit.js'
import type {Backlog, Counted} from './backlog.js'
import type {Claims} from './claims.js'
import type {Messages} from './messages.js'
import type {Transaction} from './transaction.js'

/** Messages selected by an administrator. */
interface Selection {
  ids: readonly number[]
  actor: string
}

type Row = Counted & Pick<MessageRow, 'id' | 'type' | 'attempts' | 'acked_at' | 'dead_at'>

const prepare = (database: Database) => ({
  page: database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND dead_at IS NOT NULL AND acked_at IS NULL AND id < @before
ORDER BY id DESC LIMIT @limit`,
  ),
  find: database.prepare<[number, string], Row>(
    'SELECT id, scope_id, receiver, type, task_kind, priority, attempts, acked_at, dead_at FROM mesh_messages WHERE id = ? AND scope_id = ?',
  ),
  revive: database.prepare<[number]>(
    'UPDATE mesh_messages SET dead_at = NULL, attempts = 0, tried_at = NULL WHERE id = ?',
  ),
})

interface DeadMessageParts {
  audit: Audit
  backlog: Backlog
  claims: Claims
  messages: Messages
}

export class DeadMessages {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: DeadMessageParts

  constructor(database: Database, parts: DeadMessageParts) {
    this.#sql = prepare(database)
    this.#parts = parts
  }

  list(scope: Scope, query: PageQuery & Pick<PeekQuery, 'maxBytes'>, now: number): Page<DeadMessage> {
    const {limit, before = Number.MAX_SAFE_INTEGER, maxBytes} = query
    // One more row shows whether there is a next page.
    const {taken, isCut} = takePage(this.#sql.page.iterate({scope, before, limit: limit + 1}), {limit, maxBytes})
    const rows = taken.map((row) => ({...toMessage(row, now), dead_unix_ms: row.dead_at as number}))
    return pageOf(rows, isCut)
  }

  retry(transaction: Transaction, scope: Scope, {ids, actor}: Selection): DeadOutcome {
    const {audit, backlog, messages} = this.#parts
    const open = this.#rowsOf(scope, ids).filter(({acked_at}) => acked_at === null)
    const dead = open.filter(isDead)
    messages.requireRoom(
      scope,
      dead.map(({receiver}) => receiver),
    )
    for (const row of dead) {
      this.#sql.revive.run(row.id)
      backlog.move(transaction, row, 'dead', 'waiting')
      audit.write(transaction, {...entryOf(row), actor, action: 'message.retried'})
    }
    return outcomeOf(ids, open)
  }

  drop(transaction: Transaction, scope: Scope, {ids, actor}: Selection): DeadOutcome {
    const {audit, claims} = this.#parts
    const rows = this.#rowsOf(scope, ids).filter(({dead_at}) => dead_at !== null)
    for (const row of rows.filter(isDead)) {
      claims.ack(transaction, scope, {receiver: row.receiver, message: row.id})
      audit.write(transaction, {...entryOf(row), actor, action: 'message.dropped'})
    }
    return outcomeOf(ids, rows)
  }

  #rowsOf(scope: Scope, ids: readonly number[]): Row[] {
    return [...new Set(ids)].flatMap((id) => this.#sql.find.get(id, scope) ?? [])
  }
}

const isDead = ({acked_at, dead_at}: Row) => dead_at !== null && acked_at === null
