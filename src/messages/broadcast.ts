import {agentRows} from '../tasks/index.js'
import type {MessageContext} from './context.js'

import type {IdentityBinding} from './identity.js'
import {displayMessage, type MessageType} from './message.js'
import type {DeliveryPlane, OpenRoute} from './planes.js'
import {type Sending, toDraft} from './send.js'

/** The result of a broadcast. */
export interface Broadcasted extends IdentityBinding {
  message_id: number
  /** `M-000012` */
  display_id: string
  sender: number
  msg_type: MessageType
  /** The route of the inboxes. */
  route: OpenRoute
  delivery_plane: DeliveryPlane
  /** Number of receiving agents. */
  delivered_to: number
  /** Number of unread messages that were dropped to make room. */
  dropped_messages: number
}

/**
 * Sends a message to every other agent and to all subscribers of broadcasts within this process.
 * @throws agent_not_found, agent_session_mismatch, message_invalid, usage
 */
export function broadcastMessage(context: MessageContext, sending: Sending): Broadcasted {
  const {draft, binding} = toDraft(context, sending)
  const receivers = agentRows(context).flatMap(({id}) => (id === draft.sender ? [] : [id]))
  const {message, dropped} = context.bus.broadcast(draft, receivers)
  return {
    message_id: message.id,
    display_id: displayMessage(message.id),
    sender: draft.sender,
    msg_type: message.msg_type,
    route: 'local',
    delivery_plane: message.delivery_plane,
    delivered_to: receivers.length,
    dropped_messages: dropped,
    ...binding,
  }
}
