/** A message to an agent, as its sender gives it. */
export interface MessageDraft {
  /** Decimal digits, both. */
  sender_agent_id: string
  receiver_agent_id: string
  /** `remote_task_envelope`, `free_form`; any word. */
  message_type: string
  /** JSON text, or any text. */
  payload: string
  /** A message is stored once under the key of its sender and receiver. */
  idempotency_key?: string
  privacy_class?: string
  /** 255 is the highest. */
  priority: number
  /** `text_infer`, `svc_script`; counted in the statistics. */
  task_kind?: string
  model_id?: string
  /** W3C Trace Context. */
  traceparent?: string
  /** Encrypted secrets, handed on as they are. */
  jwe_payload?: string
  sender_node_id?: string
}

export const defaultPriority = 128

export interface StoredMessage extends MessageDraft {
  id: number
  created_unix_ms: number
  acknowledged: boolean
  /** Who has claimed it, and until when. */
  lease_holder_node_id?: string
  lease_expires_unix_ms?: number
  /** How often it was claimed. */
  delivery_attempts: number
}

/** A message that was claimed too often without an acknowledgement, and is in no inbox any more. */
export interface DeadMessage extends StoredMessage {
  dead_unix_ms: number
}

/** A page of dead messages, the newest first. */
export interface DeadMessages {
  messages: DeadMessage[]
  /** Where the next page starts, where there is one. */
  next_cursor?: string
}

/** The outcome of a retry or a drop of dead messages. */
export interface DeadOutcome {
  /** Retried or dropped, now or by an earlier request. */
  message_ids: number[]
  not_found: number[]
}

export interface Delivered {
  accepted: true
  message_id: number
  /** It was there already, under its key. */
  duplicate?: true
}

export interface QueueStats {
  /** Neither acknowledged nor claimed. */
  pending_count: number
  pending_by_kind: Record<string, number>
  pending_by_priority: Record<string, number>
  /** Claimed so often without an acknowledgement that they are given up. */
  dead_count: number
}
