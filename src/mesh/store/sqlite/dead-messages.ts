import type {Database} from 'better-sqlite3'
import type {DeadMessage, DeadOutcome} from '../../protocol/message.js'
import type {PageQuery} from '../../protocol/read/page-query.js'
import type {Page, PeekQuery, Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Backlog, Counted} from './backlog.js'
import type {Claims} from './claims.js'
import type {Turn} from './group-commit.js'
import {type MessageRow, takePage, toMessage} from './message-rows.js'
import type {Messages} from './messages.js'

/** Which messages an administrator names. */
interface Named {
  ids: readonly number[]
  actor: string
}

export interface DeadMessages {
  list(scope: Scope, query: PageQuery & Pick<PeekQuery, 'maxBytes'>, now: number): Page<DeadMessage>
  retry(turn: Turn, scope: Scope, named: Named): DeadOutcome
  drop(turn: Turn, scope: Scope, named: Named): DeadOutcome
}

type Row = Counted & Pick<MessageRow, 'id' | 'type' | 'attempts' | 'acked_at' | 'dead_at'>

const isDead = ({acked_at, dead_at}: Row) => dead_at !== null && acked_at === null

export function createDeadMessages(
  database: Database,
  {audit, backlog, claims, messages}: {audit: Audit; backlog: Backlog; claims: Claims; messages: Messages},
): DeadMessages {
  const page = database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND dead_at IS NOT NULL AND acked_at IS NULL AND id < @before
ORDER BY id DESC LIMIT @limit`,
  )
  const find = database.prepare<[number, string], Row>(
    'SELECT id, scope_id, receiver, type, task_kind, priority, attempts, acked_at, dead_at FROM mesh_messages WHERE id = ? AND scope_id = ?',
  )
  const revive = database.prepare<[number]>(
    'UPDATE mesh_messages SET dead_at = NULL, attempts = 0, tried_at = NULL WHERE id = ?',
  )

  const rowsOf = (scope: Scope, ids: readonly number[]): Row[] =>
    [...new Set(ids)].flatMap((id) => find.get(id, scope) ?? [])

  function record(turn: Turn, actor: string, action: string, row: Row): void {
    const detail = {receiver_agent_id: row.receiver, message_type: row.type, delivery_attempts: row.attempts}
    audit.write(turn, {scope: row.scope_id, actor, action, target: String(row.id), detail})
  }

  function outcomeOf(ids: readonly number[], rows: readonly Row[]): DeadOutcome {
    const found = new Set(rows.map(({id}) => id))
    return {message_ids: [...found], not_found: [...new Set(ids)].filter((id) => !found.has(id))}
  }

  return {
    list(scope, {limit, before = Number.MAX_SAFE_INTEGER, maxBytes}, now) {
      // One more shows whether there is a next page.
      const {taken, isCut} = takePage(page.iterate({scope, before, limit: limit + 1}), {limit, maxBytes})
      const rows = taken.map((row) => ({...toMessage(row, now), dead_unix_ms: row.dead_at as number}))
      const last = rows.at(-1)
      return {rows, ...(isCut && last !== undefined ? {next: last.id} : {})}
    },

    retry(turn, scope, {ids, actor}) {
      const open = rowsOf(scope, ids).filter(({acked_at}) => acked_at === null)
      const dead = open.filter(isDead)
      messages.requireRoom(
        scope,
        dead.map(({receiver}) => receiver),
      )
      for (const row of dead) {
        revive.run(row.id)
        backlog.move(turn, row, 'dead', 'waiting')
        record(turn, actor, 'message.retried', row)
      }
      return outcomeOf(ids, open)
    },

    drop(turn, scope, {ids, actor}) {
      const rows = rowsOf(scope, ids).filter(({dead_at}) => dead_at !== null)
      for (const row of rows.filter(isDead)) {
        claims.ack(turn, scope, {receiver: row.receiver, message: row.id})
        record(turn, actor, 'message.dropped', row)
      }
      return outcomeOf(ids, rows)
    },
  }
}
