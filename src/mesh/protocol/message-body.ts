import {bodyOf, type Member, must} from './member.js'
import {defaultPriority, type MessageDraft} from './message.js'
import {type CapabilityHints, capabilityHints} from './node.js'
import {agentId, integer, list, nodeId, oneOf, text, word} from './types.js'

/** W3C Trace Context. */
const traceparent: Member<string> = {
  expected: 'a W3C Trace Context traceparent',
  read: (value) =>
    typeof value === 'string' && /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(value) ? value : undefined,
}

/** Five base64url parts; the second one is empty, because the key is pre-shared. */
const compactJwe: Member<string> = {
  expected: 'a JWE in compact serialization',
  read: (value) => (typeof value === 'string' && /^[\w-]+\.\.[\w-]+\.[\w-]*\.[\w-]+$/.test(value) ? value : undefined),
}

/** Maximum length of requirements as JSON, characters: they are part of an index. */
const maxRequirements = 4096

const requirements: Member<CapabilityHints> = {
  expected: `capabilities of up to ${maxRequirements} characters of JSON`,
  read(value, field) {
    const read = capabilityHints.read(value, field)
    return JSON.stringify(read ?? '').length > maxRequirements ? undefined : read
  },
}

const deliver = bodyOf({
  sender_agent_id: must(agentId),
  receiver_agent_id: must(agentId),
  message_type: must(word(128)),
  payload: must(text),
  idempotency_key: word(512),
  privacy_class: word(64),
  priority: integer(0, 255),
  task_kind: word(64),
  model_id: word(256),
  traceparent,
  jwe_payload: compactJwe,
  sender_node_id: nodeId,
  requirements,
  payload_blake3_hex: text,
  worker_ed25519_sig_b64: text,
})

/** Digest and signature of a payload, created by the worker. */
export interface Attestation {
  payload_blake3_hex: string | undefined
  worker_ed25519_sig_b64: string | undefined
}

export interface DeliverBody {
  draft: MessageDraft
  attestation: Attestation
}

/** @throws invalid_json, missing_field, invalid_agent_id */
export function readDeliver(body: unknown): DeliverBody {
  const {payload_blake3_hex, worker_ed25519_sig_b64, priority = defaultPriority, ...rest} = deliver(body)
  return {draft: {...rest, priority}, attestation: {payload_blake3_hex, worker_ed25519_sig_b64}}
}

/** Maximum and default number of messages per page. */
export const maxMessagesPerPage = 256
const defaultPage = 64

/** Maximum time that a request waits for a message, ms. */
export const maxWaitMs = 30_000

const inbox = bodyOf({
  receiver_agent_id: must(agentId),
  claimer_node_id: nodeId,
  max_messages: integer(),
  before_message_id: integer(),
  wait_ms: integer(),
  exclude_message_ids: list(maxMessagesPerPage, integer()),
  exclude_sender_agent_ids: list(64, agentId),
  message_types: list(64, word(128)),
  order: oneOf('asc', 'desc'),
})

export interface InboxBody {
  receiver: string
  /** Node that claims a message; without it, messages are only read. */
  claimer: string | undefined
  limit: number
  before: number | undefined
  waitMs: number
  exclude: readonly number[] | undefined
  excludeSenders: readonly string[] | undefined
  types: readonly string[] | undefined
  order: 'asc' | 'desc' | undefined
}

/** @throws invalid_json, missing_field, invalid_agent_id */
export function readInbox(body: unknown): InboxBody {
  const read = inbox(body)
  return {
    receiver: read.receiver_agent_id,
    claimer: read.claimer_node_id,
    limit: Math.min(Math.max(read.max_messages ?? defaultPage, 1), maxMessagesPerPage),
    before: read.before_message_id,
    waitMs: Math.min(read.wait_ms ?? 0, maxWaitMs),
    exclude: read.exclude_message_ids,
    excludeSenders: read.exclude_sender_agent_ids,
    types: read.message_types?.length === 0 ? undefined : read.message_types,
    order: read.order,
  }
}

const message = {receiver_agent_id: must(agentId), message_id: must(integer())}

/** @throws invalid_json, missing_field, invalid_agent_id */
export const readAck = bodyOf({...message, claimer_node_id: nodeId})

/** Body of a retry or drop. @throws invalid_json, missing_field */
export const readDead = bodyOf({message_ids: must(list(maxMessagesPerPage, integer()))})

/** @throws invalid_json, missing_field, invalid_agent_id */
export const readClaimRenewal = bodyOf({...message, claimer_node_id: must(nodeId)})
