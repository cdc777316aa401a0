import type {History, MessageRow} from './history.js'

/**
 * Rows of messages with their payloads. Of an acknowledged one the file has no payload any more: it is what a node
 * received when it claimed the message.
 */
export function withPayloads({calls}: Pick<History, 'calls'>, rows: readonly MessageRow[]): MessageRow[] {
  const received = new Map<unknown, unknown>()
  for (const {body} of calls.filter(({operation}) => operation === 'a2a_inbox'))
    for (const {id, payload} of (body?.messages ?? []) as {id?: unknown; payload?: unknown}[]) received.set(id, payload)
  return rows.map((row) => {
    const payload = received.get(row.id)
    return row.acked_at !== null && row.payload === '' && typeof payload === 'string' ? {...row, payload} : row
  })
}
