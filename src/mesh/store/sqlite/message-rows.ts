import type {StoredMessage} from '../../protocol/message.js'

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
  /** When the last of them began. */
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
}

/** Members that a message may lack, with their columns. */
const optional = [
  ['idempotency_key', 'idem_key'],
  ['privacy_class', 'privacy_class'],
  ['task_kind', 'task_kind'],
  ['model_id', 'model_id'],
  ['traceparent', 'traceparent'],
  ['jwe_payload', 'jwe'],
  ['sender_node_id', 'sender_node'],
] as const satisfies readonly (readonly [keyof StoredMessage, keyof MessageRow])[]

/** A message as it is given out. A claim that has run out is nobody's. */
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
  const {holder, lease_expires} = row
  if (holder === null || lease_expires === null || lease_expires <= now) return message
  return {...message, lease_holder_node_id: holder, lease_expires_unix_ms: lease_expires}
}

/** Most bytes of messages that one look reads, where it does not say. */
const mostRead = 8 * 1024 * 1024

/** The rows of a page, up to a size of their contents together; the first comes however large it is. */
export function takePage(
  rows: Iterable<MessageRow>,
  {limit, maxBytes = mostRead}: {limit: number; maxBytes?: number | undefined},
): {taken: MessageRow[]; isCut: boolean} {
  const taken: MessageRow[] = []
  let bytes = 0
  for (const row of rows) {
    bytes += Buffer.byteLength(row.payload) + (row.jwe?.length ?? 0)
    if (taken.length === limit || (bytes > maxBytes && taken.length > 0)) return {taken, isCut: true}
    taken.push(row)
  }
  return {taken, isCut: false}
}

/** Whether a row is among given ids or types, which come as JSON; null is any. */
export const isOneOf = (column: string, parameter: string) =>
  `(${parameter} IS NULL OR ${column} IN (SELECT value FROM json_each(${parameter})))`

export const listed = (values: readonly unknown[] | undefined): string | null =>
  values === undefined ? null : JSON.stringify(values)
