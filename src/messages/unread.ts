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
 * The unread messages of a durable inbox, as a look at them that takes nothing: the most urgent first, then the oldest;
 * or, before an id, the newest first.
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

/** The dead letters of an inbox that nobody has acknowledged. */
export const readDeadLetters = (
  {store, repositoryId: repository}: MessageContext,
  agent: number,
  limit: number,
): Message[] => store.all<MessageRow>(deadSql, {repository, agent, limit}).map(toMessage)

/** How many messages of a durable inbox are unread, whoever has them. */
export const countUnread = ({store, repositoryId: repository}: MessageContext, agent: number): number =>
  store.get<{count: number}>(countUnreadSql, {repository, agent})?.count ?? 0
