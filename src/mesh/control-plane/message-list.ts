import {setImmediate as nextTurn} from 'node:timers/promises'
import type {StoredMessage} from '../protocol/message.js'

/** Bytes of JSON that are written at once: some milliseconds, so that heartbeats are answered in between. */
const sliceBytes = 1 << 20

/**
 * Messages as JSON, one after the other: a page of large ones is no single text at any time.
 * @param next cursor of the page after them
 */
export async function writeMessages(messages: readonly StoredMessage[], next?: number): Promise<Buffer> {
  const parts = [Buffer.from('{"messages":[')]
  let written = 0
  for (const [i, message] of messages.entries()) {
    const part = Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(message)}`)
    parts.push(part)
    written += part.length
    if (written < sliceBytes) continue
    written = 0
    await nextTurn()
  }
  parts.push(Buffer.from(next === undefined ? ']}' : `],"next_cursor":"${next}"}`))
  return Buffer.concat(parts)
}
