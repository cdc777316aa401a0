import {appendEvent} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

import {claimTimes, isFree, isUnread, maxDeliveries} from './delivery.js'
import type {MessageRow} from './message-rows.js'

/** INDEXED BY, because the planner may prefer another index, which contains all messages. */
export const exhaustedSql = `SELECT id FROM a2a_messages INDEXED BY a2a_messages_exhausted
WHERE repository_id = @repository AND delivery_attempts >= ${maxDeliveries} AND ${isUnread} AND ${isFree}`

const exhausted = ({store, repositoryId, now}: WorkspaceContext): {id: number}[] =>
  store.all<{id: number}>(exhaustedSql, {repository: repositoryId, ...claimTimes(now())})

/** Turns messages whose last delivery has expired into dead letters, in a transaction of the caller. */
export function buryExhausted(context: WorkspaceContext): void {
  for (const {id} of exhausted(context)) buryMessage(context, id)
}

/** The same in its own transaction; writes nothing if there are none. */
export function sweepDeadLetters(context: WorkspaceContext): void {
  if (exhausted(context).length > 0) context.store.transaction(() => buryExhausted(context))
}

export const unreadIdsSql = `SELECT id FROM a2a_messages
WHERE repository_id = @repository AND receiver_agent = @agent AND ${isUnread}
ORDER BY priority DESC, id`

/** Turns all unread messages of an inbox into dead letters, claimed or not, in a transaction of the caller. */
export function buryInbox(context: WorkspaceContext, agent: number, reason: string): void {
  const {store, repositoryId: repository} = context
  for (const {id} of store.all<{id: number}>(unreadIdsSql, {repository, agent})) buryMessage(context, id, reason)
}

/** Turns a message into a dead letter, in a transaction of the caller. @param reason if not its last delivery */
export function buryMessage(context: WorkspaceContext, id: number, reason?: string): MessageRow {
  const {store, now} = context
  const row = store.get<MessageRow>(
    `UPDATE a2a_messages SET dead_lettered_at_ms = ?, claim_owner = NULL, claim_until_ms = NULL,
  last_claim_error = coalesce(?, last_claim_error) WHERE id = ? RETURNING *`,
    [now(), reason ?? null, id],
  ) as MessageRow
  appendEvent(context, {
    type: 'message_dead_lettered',
    agent_id: row.receiver_agent,
    sender_agent_id: row.sender_agent,
    message_id: row.id,
    message_uuid: row.message_uuid,
    msg_type: row.msg_type,
    delivery_attempts: row.delivery_attempts,
    ...(row.last_claim_error === null ? {} : {error: row.last_claim_error}),
  })
  return row
}
