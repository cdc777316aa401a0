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
const maxPageBytes = 8 * 1024 * 1024

/** Takes rows up to the limits of a page. The first row is taken regardless of its size. */
export function takePage(
  rows: Iterable<MessageRow>,
  {limit, maxBytes = maxPageBytes}: {limit: number; maxBytes?: number | undefined},
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

/** SQL condition: the column is in a JSON array, or the array is null. */
export const isOneOf = (column: string, parameter: string) =>
  `(${parameter} IS NULL OR ${column} IN (SELECT value FROM json_each(${parameter})))`

export const listed = (values: readonly unknown[] | undefined): string | null =>
  values === undefined ? null : JSON.stringify(values)
