import {type A2ASendV1, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {requireAgent} from '../tasks/index.js'
import type {MessageContext} from './context.js'

import {messageKey} from './idempotency-key.js'
import {bindIdentity, type IdentityBinding} from './identity.js'
import {insertMessage} from './insert.js'
import {type Draft, type MessageType, messagePriorities, parseMessageType} from './message.js'
import {type OpenRoute, parseWord, planeOf} from './planes.js'

/** Parameters of every message. Agents are identified by id or name. */
export interface Sending {
  sender: string | number
  /** Unknown types count as `free_form`. */
  type: string
  payload: string
  /** Default: `normal`. */
  priority?: string
  /** Session of the sender; required if it has one. */
  sessionId?: string
}

export interface SendRequest extends Sending {
  receiver: string | number
  /** Default: `local`. */
  route?: string
  /** Idempotency key. Default: the correlation id. */
  key?: string
  correlationId?: string
  threadId?: string
  tenantId?: string
}

/** The result of sending a message. The relay members apply to messages to other machines. */
export interface Sent extends A2ASendV1 {
  msg_type: MessageType
}

/** Maximum length of a payload in characters. */
const maxPayloadLength = 131_072
/** Maximum length of a key and of the ids of a message in characters. */
const maxIdLength = 512

/**
 * Sends a message to the inbox of an agent of this machine. With a key or correlation id, a message is sent only once;
 * without one, a repetition is only recognised within a minute and while the earlier message is unread.
 * @throws agent_not_found, agent_session_mismatch, message_invalid, message_key_conflict, usage
 */
export function sendMessage(
  context: MessageContext,
  {route = 'local', ...request}: SendRequest & {route?: OpenRoute},
): Sent {
  if (route === 'local') return send(context, request, route)
  return context.store.transaction(() => send(context, request, route))
}

function send(context: MessageContext, request: SendRequest, route: OpenRoute): Sent {
  const {draft, binding} = toDraft(context, request)
  const {id: receiver} = requireAgent(context, request.receiver)
  const key = messageKey(draft, receiver, request.key)
  const {message, isRepeated, dropped} =
    route === 'local' ? context.bus.send(draft, receiver, key) : insertMessage(context, draft, receiver, key)
  return {
    message_id: message.id,
    db_message_uuid: message.uuid ?? null,
    sender: draft.sender,
    receiver,
    msg_type: message.msg_type,
    route,
    delivery_plane: planeOf[route],
    route_ok: true,
    duplicate: isRepeated,
    idempotency_key: key.text,
    correlation_id: message.correlation_id ?? null,
    tenant_id: message.tenant_id ?? null,
    relay_attempted: false,
    relay_ok: false,
    dropped_messages: dropped,
    ...withoutUndefined({display_id: message.display_id}),
    ...binding,
  }
}

/** @throws agent_not_found, agent_session_mismatch, message_invalid, usage */
export function toDraft(
  context: MessageContext,
  {sender: nameOrId, type, payload, priority = 'normal', sessionId, ...rest}: Sending & Partial<SendRequest>,
): {draft: Draft; binding: IdentityBinding} {
  const {key, correlationId, threadId, tenantId} = rest
  const ids = {key, 'correlation id': correlationId, 'thread id': threadId, 'tenant id': tenantId}
  for (const [what, id] of Object.entries(ids))
    if (id !== undefined && (id.trim() === '' || id.length > maxIdLength))
      throw new SvcError('message_invalid', {fault: `its ${what} is blank or longer than ${maxIdLength} characters`})
  if (payload.length > maxPayloadLength)
    throw new SvcError('message_invalid', {fault: `its payload is longer than ${maxPayloadLength} characters`})
  const sender = requireAgent(context, nameOrId)
  return {
    binding: bindIdentity(sender, sessionId),
    draft: {
      sender: sender.id,
      type: parseMessageType(type),
      payload,
      priority: parseWord(priority, messagePriorities, 'priority'),
      ...withoutUndefined({correlationId, threadId, tenantId}),
    },
  }
}
