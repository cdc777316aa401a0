import type {InboxMessage} from '../contracts/index.js'

/** What a message is about. */
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

/** What messages of the mesh are to agents of this machine. */
const remoteTypes: Readonly<Record<string, MessageType>> = {
  remote_task_envelope: 'plan_handoff',
  remote_task_ack: 'progress_update',
  remote_task_result: 'completion_notice',
}

/** A type by its word, in any case; one that nobody knows is `free_form`. */
export function parseMessageType(word: string): MessageType {
  const wanted = word.trim().toLowerCase()
  const remote = Object.hasOwn(remoteTypes, wanted) ? remoteTypes[wanted] : undefined
  return messageTypes.find((type) => type === wanted) ?? remote ?? 'free_form'
}

/** Weakest first: a priority is stored as its place in this list. */
export const messagePriorities = ['low', 'normal', 'high', 'critical'] as const
export type MessagePriority = (typeof messagePriorities)[number]

/** A message as its sender wants it, on any plane. Agents are ids. */
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

/** A message is in its inbox. */
export interface Delivered {
  message: Message
  /** It was there already, under its key. */
  isRepeated: boolean
  /** Unread messages that had to make room for it. */
  dropped: number
}

/** Which message an agent means: by its uuid, or by its id. */
export type MessageReference = {readonly uuid: string} | {readonly id: number}

/** `M-000012` */
export const displayMessage = (id: number): string => `M-${String(id).padStart(6, '0')}`

const urgency = ({priority}: Message) => messagePriorities.indexOf(priority)

/** The more urgent first, then the older: the order within one plane, whatever its clock did. */
export const byUrgency = (a: Message, b: Message): number => urgency(b) - urgency(a) || a.id - b.id

/** The more urgent first, then the older by the clock: ids of two planes say nothing of each other. */
export const byUrgencyAcrossPlanes = (a: Message, b: Message): number =>
  urgency(b) - urgency(a) || a.timestamp_ms - b.timestamp_ms
