import {type CallOptions, inboxPages} from '../../mesh/index.js'
import type {MessageContext} from '../context.js'
import {fromMesh} from '../mesh-message.js'
import type {Message} from '../message.js'
import {requireMesh} from './plane.js'

const maxPage = 256

interface Wanted {
  limit: number
  /** Only messages with a smaller id. */
  before?: number | undefined
}

/**
 * Reads the unacknowledged messages of an agent without claiming them, newest first.
 * @throws mesh_not_configured; MeshHttpError
 */
export async function readFromMesh(
  context: MessageContext,
  agent: number,
  {limit, before}: Wanted,
  options?: CallOptions,
): Promise<Message[]> {
  const pageSize = Math.min(limit, maxPage)
  const maxPages = Math.ceil(limit / pageSize)
  const messages: Message[] = []
  for await (const page of inboxPages(
    requireMesh(context),
    {receiver: String(agent), pageSize, maxPages, before},
    options,
  )) {
    messages.push(...page.map(fromMesh))
    if (page.length < pageSize) break
  }
  return messages.slice(0, limit)
}
