import {setImmediate as nextIteration} from 'node:timers/promises'
import type {StoredMessage} from '../protocol/message.js'

/** JSON bytes per slice, a few ms of work, so that heartbeats can be answered in between. */
const sliceBytes = 1 << 20

/**
 * Serializes messages one by one, to avoid one huge string for a page of large messages.
 * @param next cursor of the next page
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
    await nextIteration()
  }
  parts.push(Buffer.from(next === undefined ? ']}' : `],"next_cursor":"${next}"}`))
  return Buffer.concat(parts)
}
