import {withoutNulls} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {MessageContext} from './context.js'

import {type Message, type MessageReference, type MessageType, messagePriorities} from './message.js'

/** A row of `a2a_messages`. */
export interface MessageRow {
  id: number
  message_uuid: string
  sender_agent: number
  receiver_agent: number
  msg_type: MessageType
  payload: string
  priority: number
  thread_id: string | null
  correlation_id: string | null
  tenant_id: string | null
  idempotency_key: string | null
  claim_owner: string | null
  claim_until_ms: number | null
  delivery_attempts: number
  last_claim_error: string | null
  created_at_ms: number
  acknowledged_at_ms: number | null
  acknowledged_by: string | null
  dead_lettered_at_ms: number | null
}

/** A message in the agent's own inbox. @throws message_not_found */
export function requireMessage(
  {store, repositoryId}: MessageContext,
  agent: number,
  reference: MessageReference,
): MessageRow {
  const row =
    'uuid' in reference
      ? store.get<MessageRow>(
          'SELECT * FROM a2a_messages WHERE message_uuid = ? AND repository_id = ? AND receiver_agent = ?',
          [reference.uuid.toLowerCase(), repositoryId, agent],
        )
      : store.get<MessageRow>('SELECT * FROM a2a_messages WHERE id = ? AND repository_id = ? AND receiver_agent = ?', [
          reference.id,
          repositoryId,
          agent,
        ])
  if (row !== undefined) return row
  throw new SvcError('message_not_found', {message: 'uuid' in reference ? reference.uuid : String(reference.id)})
}

export function toMessage(row: MessageRow): Message {
  const {id, message_uuid, sender_agent, receiver_agent, msg_type, payload, priority, created_at_ms} = row
  const {correlation_id, thread_id, tenant_id, delivery_attempts, claim_owner, claim_until_ms, last_claim_error} = row
  return {
    id,
    uuid: message_uuid,
    sender: sender_agent,
    receiver: receiver_agent,
    msg_type,
    payload,
    priority: messagePriorities[priority] ?? 'normal',
    timestamp_ms: created_at_ms,
    acknowledged: row.acknowledged_at_ms !== null,
    route: 'db',
    delivery_plane: 'local_durable',
    delivery_attempts,
    dead_lettered: row.dead_lettered_at_ms !== null,
    ...withoutNulls({correlation_id, thread_id, tenant_id, claim_owner, claim_until_ms, last_claim_error}),
  }
}
