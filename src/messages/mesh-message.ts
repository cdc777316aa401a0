import {withoutUndefined} from '../contracts/index.js'
import type {StoredMessage} from '../mesh/index.js'
import {type Message, type MessagePriority, messagePriorities, parseMessageType} from './message.js'
import {planeOf} from './planes.js'

/** `mesh:1042`: mesh ids are unique across all machines and unrelated to local ids. */
export const displayMeshMessage = (id: number): string => `mesh:${id}`

/** Parses `mesh:1042`; undefined if the text is not such an id. */
export function matchMeshMessage(text: string): number | undefined {
  const digits = /^mesh:0*([1-9]\d{0,14})$/i.exec(text.trim())?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Priorities on the mesh, 0 to 255. */
export const meshPriority: Readonly<Record<MessagePriority, number>> = {low: 64, normal: 128, high: 192, critical: 255}

/** The priority nearest to a mesh number; ties go to the lower one. */
function priorityOf(number: number): MessagePriority {
  const distance = (word: MessagePriority) => Math.abs(meshPriority[word] - number)
  return messagePriorities.reduce((best, word) => (distance(word) < distance(best) ? word : best))
}

/** The id of an agent as a number, or as digits if it exceeds the safe range. */
function agentOf(digits: string): number | string {
  const id = Number(digits)
  return Number.isSafeInteger(id) ? id : digits
}

/** Converts a mesh message for agents of this machine. */
export const fromMesh = (stored: StoredMessage): Message => ({
  id: stored.id,
  display_id: displayMeshMessage(stored.id),
  sender: agentOf(stored.sender_agent_id),
  receiver: Number(stored.receiver_agent_id),
  msg_type: parseMessageType(stored.message_type),
  payload: stored.payload,
  priority: priorityOf(stored.priority),
  timestamp_ms: stored.created_unix_ms,
  acknowledged: stored.acknowledged,
  route: 'mesh',
  delivery_plane: planeOf.mesh,
  ...withoutUndefined({
    delivery_attempts: stored.delivery_attempts,
    claim_owner: stored.lease_holder_node_id,
    claim_until_ms: stored.lease_expires_unix_ms,
  }),
})
