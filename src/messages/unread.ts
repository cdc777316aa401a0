import type {MessageContext} from './context.js'
import {isUnread} from './delivery.js'
import type {Message} from './message.js'
import {type MessageRow, toMessage} from './message-rows.js'

const isDead = 'acknowledged_at_ms IS NULL AND dead_lettered_at_ms IS NOT NULL'

export const unreadSql = `SELECT * FROM a2a_messages
WHERE repository_id = @repository AND receiver_agent = @agent AND ${isUnread}
ORDER BY priority DESC, id LIMIT @limit`

export const unreadPageSql = `SELECT * FROM a2a_messages
WHERE repository_id = @repository AND receiver_agent = @agent AND ${isUnread} AND id < @before
ORDER BY id DESC LIMIT @limit`

export const deadSql = `SELECT * FROM a2a_messages
WHERE repository_id = @repository AND receiver_agent = @agent AND ${isDead}
ORDER BY priority DESC, id LIMIT @limit`

export const countUnreadSql = `SELECT count(*) AS count FROM a2a_messages
WHERE repository_id = @repository AND receiver_agent = @agent AND ${isUnread}`

/**
 * Reads the unread messages of a durable inbox without claiming them, most urgent first, then oldest first; or, before
 * an id, newest first.
 */
export function readUnread(
  context: MessageContext,
  agent: number,
  {limit, before}: {limit: number; before?: number | undefined},
): Message[] {
  const {store, repositoryId: repository} = context
  if (before === undefined) return store.all<MessageRow>(unreadSql, {repository, agent, limit}).map(toMessage)
  return store.all<MessageRow>(unreadPageSql, {repository, agent, limit, before}).map(toMessage)
}

/** The unacknowledged dead letters of an inbox. */
export const readDeadLetters = (
  {store, repositoryId: repository}: MessageContext,
  agent: number,
  limit: number,
): Message[] => store.all<MessageRow>(deadSql, {repository, agent, limit}).map(toMessage)

/** The number of unread messages in a durable inbox, claimed or not. */
export const countUnread = ({store, repositoryId: repository}: MessageContext, agent: number): number =>
  store.get<{count: number}>(countUnreadSql, {repository, agent})?.count ?? 0
