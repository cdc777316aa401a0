import type {MessageContext} from './context.js'
import {buryExhausted} from './dead-letters.js'
import {claimTimes, isFree, isUnread} from './delivery.js'
import {byUrgency, type Message} from './message.js'
import {type MessageRow, toMessage} from './message-rows.js'

export const claimSql = `UPDATE a2a_messages SET
  delivery_attempts = delivery_attempts + (claim_owner IS NOT @owner OR ${isFree}),
  claim_owner = @owner, claim_until_ms = @until
WHERE id IN (
  SELECT id FROM a2a_messages
  WHERE repository_id = @repository AND receiver_agent = @agent AND ${isUnread} AND (claim_owner = @owner OR ${isFree})
  ORDER BY priority DESC, id LIMIT @limit)
RETURNING *`

/**
 * Claims unread messages of an inbox, most urgent first, then oldest first. They belong to the owner for two minutes
 * and become available again unless they are acknowledged. Messages that the owner already holds are returned again
 * without counting as another delivery. Two owners never hold the same message at once.
 */
export function claimMessages(
  context: MessageContext,
  agent: number,
  {owner, limit}: {owner: string; limit: number},
): Message[] {
  const {store, repositoryId, now} = context
  return store.transaction(() => {
    buryExhausted(context)
    const rows = store.all<MessageRow>(claimSql, {
      repository: repositoryId,
      agent,
      owner,
      limit,
      ...claimTimes(now()),
    })
    return rows.map(toMessage).sort(byUrgency)
  })
}
