import {randomUUID} from 'node:crypto'
import {SvcError} from '../errors/index.js'
import {appendEvent} from '../tasks/index.js'
import type {MessageContext} from './context.js'

import {compareToEarlier, type MessageKey} from './idempotency-key.js'
import {type Delivered, type Draft, messagePriorities} from './message.js'
import {type MessageRow, toMessage} from './message-rows.js'

/**
 * Inserts a message into a durable inbox, in a transaction of the caller. If its key already exists, returns the
 * existing message.
 * @throws message_key_conflict
 */
export function insertMessage(context: MessageContext, draft: Draft, receiver: number, key: MessageKey): Delivered {
  const earlier = takeKey(context, draft, receiver, key)
  if (earlier !== undefined) return {message: toMessage(earlier), isRepeated: true, dropped: 0}
  const {store, repositoryId, now} = context
  const {sender, type, payload, priority, threadId = null, correlationId = null, tenantId = null} = draft
  const row = store.get<MessageRow>(
    `INSERT INTO a2a_messages (message_uuid, repository_id, sender_agent, receiver_agent, msg_type, payload, priority,
  thread_id, correlation_id, tenant_id, idempotency_key, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING *`,
    [
      randomUUID(),
      repositoryId,
      sender,
      receiver,
      type,
      payload,
      messagePriorities.indexOf(priority),
      threadId,
      correlationId,
      tenantId,
      key.text,
      now(),
    ],
  ) as MessageRow
  appendEvent(context, {
    type: 'message_sent',
    agent_id: receiver,
    sender_agent_id: sender,
    message_id: row.id,
    message_uuid: row.message_uuid,
    msg_type: type,
  })
  return {message: toMessage(row), isRepeated: false, dropped: 0}
}

export const earlierSql = `SELECT * FROM a2a_messages
WHERE repository_id = ? AND sender_agent = ? AND receiver_agent = ? AND idempotency_key = ?`

/** The message that this one repeats; undefined if the key is free. @throws message_key_conflict */
function takeKey(
  {store, repositoryId, now}: MessageContext,
  draft: Draft,
  receiver: number,
  key: MessageKey,
): MessageRow | undefined {
  const row = store.get<MessageRow>(earlierSql, [repositoryId, draft.sender, receiver, key.text])
  if (row === undefined) return undefined
  const {msg_type: type, payload, created_at_ms: timestampMs} = row
  const earlier = {type, payload, timestampMs, acknowledged: row.acknowledged_at_ms !== null}
  const comparison = compareToEarlier(key, draft, earlier, now())
  if (comparison === 'repeated') return row
  if (comparison === 'conflicting')
    throw new SvcError('message_key_conflict', {key: key.text, message: row.message_uuid})
  store.run('UPDATE a2a_messages SET idempotency_key = NULL WHERE id = ?', [row.id])
  return undefined
}
