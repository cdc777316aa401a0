import type {CapabilityHints} from './node.js'
import type {Replica} from './replica.js'

/** Message to an agent, as delivered by its sender. */
export interface MessageDraft {
  /** Agent ids are decimal digits. */
  sender_agent_id: string
  receiver_agent_id: string
  /** Such as `remote_task_envelope` or `free_form`. */
  message_type: string
  /** JSON or any other text. */
  payload: string
  /** Unique per sender and receiver: repeated deliveries store one message. */
  idempotency_key?: string
  privacy_class?: string
  /** 0 to 255, the highest. */
  priority: number
  /** Such as `text_infer` or `svc_script`; grouped by in the statistics. */
  task_kind?: string
  model_id?: string
  /** W3C Trace Context. */
  traceparent?: string
  /** Encrypted secrets, forwarded unchanged. */
  jwe_payload?: string
  sender_node_id?: string
  /** Capabilities that a node must have to claim the message. */
  requirements?: CapabilityHints
}

export const defaultPriority = 128

export interface StoredMessage extends MessageDraft {
  id: number
  created_unix_ms: number
  acknowledged: boolean
  /** Node that has claimed the message, and the end of the claim. */
  lease_holder_node_id?: string
  lease_expires_unix_ms?: number
  /** Number of claims. */
  delivery_attempts: number
}

/** Message that was removed from its inbox after too many claims without an acknowledgement. */
export interface DeadMessage extends StoredMessage {
  dead_unix_ms: number
}

/** Page of dead messages, newest first. */
export interface DeadMessages {
  messages: DeadMessage[]
  /** Start of the next page, if there is one. */
  next_cursor?: string
}

/** Result of retrying or dropping dead messages. */
export interface DeadOutcome {
  /** Messages retried or dropped by this or an earlier request. */
  message_ids: number[]
  not_found: number[]
}

export interface Delivered {
  accepted: true
  message_id: number
  /** Set if a message with this idempotency key already existed. */
  duplicate?: true
}

export interface QueueStats {
  /** Messages that are neither acknowledged nor claimed. */
  pending_count: number
  pending_by_kind: Record<string, number>
  pending_by_priority: Record<string, number>
  /** Time at which the oldest of them was accepted, if there is one. */
  oldest_pending_unix_ms?: number
  /** Messages that were claimed too often without an acknowledgement. */
  dead_count: number
}

/** Statistics of the queue, and the control planes that share it. */
export interface QueueReport extends QueueStats {
  /** By age; missing in answers of older control planes. */
  replicas?: Replica[]
}
