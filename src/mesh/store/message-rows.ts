import {createHash} from 'node:crypto'
import type {DeadOutcome, MessageDraft, StoredMessage} from '../protocol/message.js'
import type {Page} from './mesh-store.js'

/**
 * When a node claims a message again that it already holds, the claim restarts. It counts as a new attempt if the last
 * one started more than this fraction of a lease ago. Otherwise a message that crashes its node would never become
 * dead.
 */
export const sameAttempt = 0.25
/** Number of claims after which a message becomes dead. */
export const maxAttempts = 16
/** Maximum number of messages marked as dead per claim. */
export const maxDeadPerClaim = 100

/** SHA-256 of type and payload, to detect different messages with the same key; null without a key. */
export function digestOf({idempotency_key, message_type, payload}: MessageDraft): Buffer | null {
  if (idempotency_key === undefined) return null
  return createHash('sha256').update(`${message_type.length}:${message_type}`).update(payload).digest()
}

export interface MessageRow {
  id: number
  scope_id: string
  sender: string
  receiver: string
  type: string
  priority: number
  privacy_class: string | null
  task_kind: string | null
  holder: string | null
  lease_expires: number | null
  attempts: number
  /** Start of the last attempt. */
  tried_at: number | null
  created_at: number
  acked_at: number | null
  dead_at: number | null
  idem_key: string | null
  body_sha256: Buffer | null
  model_id: string | null
  traceparent: string | null
  sender_node: string | null
  jwe: string | null
  payload: string
  /** JSON. */
  requirements: string | null
}

/** Optional members of a message, with their columns. */
const optional = [
  ['idempotency_key', 'idem_key'],
  ['privacy_class', 'privacy_class'],
  ['task_kind', 'task_kind'],
  ['model_id', 'model_id'],
  ['traceparent', 'traceparent'],
  ['jwe_payload', 'jwe'],
  ['sender_node_id', 'sender_node'],
] as const satisfies readonly (readonly [keyof StoredMessage, keyof MessageRow])[]

/** Converts a row to a message. Omits an expired claim. */
export function toMessage(row: MessageRow, now: number): StoredMessage {
  const message: StoredMessage = {
    id: row.id,
    sender_agent_id: row.sender,
    receiver_agent_id: row.receiver,
    message_type: row.type,
    payload: row.payload,
    priority: row.priority,
    created_unix_ms: row.created_at,
    acknowledged: row.acked_at !== null,
    delivery_attempts: row.attempts,
  }
  for (const [member, column] of optional) {
    const value = row[column]
    if (value !== null) message[member] = value
  }
  if (row.requirements !== null) message.requirements = JSON.parse(row.requirements)
  const {holder, lease_expires} = row
  if (holder === null || lease_expires === null || lease_expires <= now) return message
  return {...message, lease_holder_node_id: holder, lease_expires_unix_ms: lease_expires}
}

/** Default maximum size of a page, bytes. */
export const maxPageBytes = 8 * 1024 * 1024

/** Takes rows up to the limits of a page. The first row is taken regardless of its size. */
export function takePage<T extends MessageRow>(
  rows: Iterable<T>,
  {limit, maxBytes = maxPageBytes}: {limit: number; maxBytes?: number | undefined},
): {taken: T[]; isCut: boolean} {
  const taken: T[] = []
  let bytes = 0
  for (const row of rows) {
    bytes += Buffer.byteLength(row.payload) + (row.jwe?.length ?? 0)
    if (taken.length === limit || (bytes > maxBytes && taken.length > 0)) return {taken, isCut: true}
    taken.push(row)
  }
  return {taken, isCut: false}
}

/** @param hasMore true if there is a next page */
export function pageOf<T extends {id: number}>(rows: T[], hasMore: boolean): Page<T> {
  const last = rows.at(-1)
  return {rows, ...(hasMore && last !== undefined ? {next: last.id} : {})}
}

/** Parts of an audit entry for a message. */
export const entryOf = (row: Pick<MessageRow, 'id' | 'scope_id' | 'receiver' | 'type' | 'attempts'>) => ({
  scope: row.scope_id,
  target: String(row.id),
  detail: {receiver_agent_id: row.receiver, message_type: row.type, delivery_attempts: row.attempts},
})

/** @param ids requested messages @param rows those that were found */
export function outcomeOf(ids: readonly number[], rows: readonly Pick<MessageRow, 'id'>[]): DeadOutcome {
  const found = new Set(rows.map(({id}) => id))
  return {message_ids: [...found], not_found: [...new Set(ids)].filter((id) => !found.has(id))}
}
