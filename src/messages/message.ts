import type {InboxMessage} from '../contracts/index.js'

/** Types of messages. */
export const messageTypes = [
  'plan_handoff',
  'scope_request',
  'scope_grant',
  'progress_update',
  'help_request',
  'completion_notice',
  'error_report',
  'free_form',
  'conflict_detected',
  'conflict_resolved',
  'vcs_event',
  'cancel_request',
  'snapshot_share',
  'broadcast_news',
  'socrates_research_request',
  'resource_lock_request',
  'resource_lock_grant',
] as const
export type MessageType = (typeof messageTypes)[number]

/** Local types of mesh messages. */
const remoteTypes: Readonly<Record<string, MessageType>> = {
  remote_task_envelope: 'plan_handoff',
  remote_task_ack: 'progress_update',
  remote_task_result: 'completion_notice',
}

/** Parses a message type, case-insensitively; unknown types become `free_form`. */
export function parseMessageType(word: string): MessageType {
  const name = word.trim().toLowerCase()
  const remote = Object.hasOwn(remoteTypes, name) ? remoteTypes[name] : undefined
  return messageTypes.find((type) => type === name) ?? remote ?? 'free_form'
}

/** Ordered from lowest to highest: a priority is stored as its index in this list. */
export const messagePriorities = ['low', 'normal', 'high', 'critical'] as const
export type MessagePriority = (typeof messagePriorities)[number]

/** A message before delivery, on any plane. Agents are ids. */
export interface Draft {
  sender: number
  type: MessageType
  payload: string
  priority: MessagePriority
  correlationId?: string
  threadId?: string
  tenantId?: string
}

export interface Message extends InboxMessage {
  msg_type: MessageType
}

/** The result of a delivery. */
export interface Delivered {
  message: Message
  /** A message with the same key had already been delivered. */
  isRepeated: boolean
  /** Number of unread messages that were dropped to make room. */
  dropped: number
}

/** A reference to a message by uuid or id. */
export type MessageReference = {readonly uuid: string} | {readonly id: number}

/** `M-000012` */
export const displayMessage = (id: number): string => `M-${String(id).padStart(6, '0')}`

const urgency = ({priority}: Message) => messagePriorities.indexOf(priority)

/** Most urgent first, then oldest first by id: the order within one plane, independent of clocks. */
export const byUrgency = (a: Message, b: Message): number => urgency(b) - urgency(a) || a.id - b.id

/** Most urgent first, then oldest first by time: ids of different planes are unrelated. */
export const byUrgencyAcrossPlanes = (a: Message, b: Message): number =>
  urgency(b) - urgency(a) || a.timestamp_ms - b.timestamp_ms
