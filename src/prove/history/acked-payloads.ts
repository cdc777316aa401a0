import type {History, MessageRow} from './history.js'

/**
 * Restores the payloads of acknowledged messages, which the server deletes, from the responses to claims.
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
