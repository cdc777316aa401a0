import type {A2ABroadcastV1} from '../contracts/index.js'
import {agentRows, appendEvent} from '../tasks/index.js'
import type {MessageContext} from './context.js'

import {messageKey} from './idempotency-key.js'
import {insertMessage} from './insert.js'
import {type Draft, displayMessage, type MessageType} from './message.js'
import {type OpenRoute, openRoutes, parseWord} from './planes.js'
import {type Sending, toDraft} from './send.js'

export interface BroadcastRequest extends Sending {
  /** `local` or `db`. Default: `local`. */
  route?: string
}

/** The result of a broadcast. */
export interface Broadcasted extends A2ABroadcastV1 {
  msg_type: MessageType
}

/**
 * Sends a message to every other agent, and to the readers of the bulletin board. The route `local` leads to the
 * inboxes of this process. The route `db` leads to the durable inboxes, except those with an unread copy that is less
 * than a minute old.
 * @throws agent_not_found, agent_session_mismatch, message_invalid, usage
 */
export function broadcastMessage(
  context: MessageContext,
  {route: word = 'local', ...sending}: BroadcastRequest,
): Broadcasted {
  const route = parseWord(word, openRoutes, 'route')
  return context.store.transaction(() => broadcast(context, sending, route))
}

function broadcast(context: MessageContext, sending: Sending, route: OpenRoute): Broadcasted {
  const {draft, binding} = toDraft(context, sending)
  const receivers = agentRows(context).flatMap(({id}) => (id === draft.sender ? [] : [id]))
  const delivery = deliveries[route](context, draft, receivers)
  const {sender: agent_id, type: msg_type, payload, priority} = draft
  const {delivered_to} = delivery
  appendEvent(context, {type: 'message_broadcast', agent_id, msg_type, payload, priority, delivered_to})
  return {
    ...delivery,
    sender: draft.sender,
    msg_type: draft.type,
    route,
    delivery_plane: 'broadcast',
    ...binding,
  }
}

type Delivery = Pick<Broadcasted, 'message_id' | 'display_id' | 'message_ids' | 'delivered_to' | 'dropped_messages'>

const deliveries: Readonly<
  Record<OpenRoute, (context: MessageContext, draft: Draft, receivers: readonly number[]) => Delivery>
> = {
  local({bus}, draft, receivers) {
    const {message, dropped} = bus.broadcast(draft, receivers)
    return {
      message_id: message.id,
      display_id: displayMessage(message.id),
      message_ids: [message.id],
      delivered_to: receivers.length,
      dropped_messages: dropped,
    }
  },
  db(context, draft, receivers) {
    const copies = receivers.map((id) => insertMessage(context, draft, id, messageKey(draft, id)))
    const sent = copies.filter(({isRepeated}) => !isRepeated)
    return {
      message_id: null,
      message_ids: sent.map(({message}) => message.id),
      delivered_to: sent.length,
      dropped_messages: 0,
    }
  },
}
