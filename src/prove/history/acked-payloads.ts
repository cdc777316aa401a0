import type {History, MessageRow} from './history.js'

/**
 * Rows of messages with their texts. Of an acknowledged one the file has no text any more: it is what a node was told
 * when it took the message.
 */
export function withTexts({calls}: Pick<History, 'calls'>, rows: readonly MessageRow[]): MessageRow[] {
  const told = new Map<unknown, unknown>()
  for (const {body} of calls.filter(({operation}) => operation === 'a2a_inbox'))
    for (const {id, payload} of (body?.messages ?? []) as {id?: unknown; payload?: unknown}[]) told.set(id, payload)
  return rows.map((row) => {
    const payload = told.get(row.id)
    return row.acked_at !== null && row.payload === '' && typeof payload === 'string' ? {...row, payload} : row
  })
}
