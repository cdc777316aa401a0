import type {A2AHistoryV1} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {Past, Wanted} from './bus.js'
import type {MessageContext} from './context.js'
import {hasMesh} from './mesh/plane.js'
import type {Message} from './message.js'
import {type MessageRow, toMessage} from './message-rows.js'
import {inboxSources, type OpenRoute, type OpenSource, parseWord, planeOf, routesOf} from './planes.js'
import {requireReceiver} from './receiver.js'

export interface HistoryRequest {
  /** Only messages that this agent sent or received: name or id; only the id for a retired agent. */
  agent?: string | number
  /** Only messages of this conversation. */
  threadId?: string
  /** Default: `merged`. */
  source?: string
  /** Only messages sent after this time, Unix ms. */
  sinceMs?: number
  /** Only messages older than the one with this id. Requires a single source, since each source has its own ids. */
  before?: number
  limit?: number
}

/** Sent messages, newest first. */
export interface MessageHistory extends A2AHistoryV1 {
  messages: Message[]
}

const defaultLimit = 50

/** Lists messages between agents of this machine. @throws agent_not_found, mesh_not_configured, usage */
export function messageHistory(context: MessageContext, request: HistoryRequest): MessageHistory {
  const source = readSource(context, request.source ?? 'merged')
  const routes = routesOf(source)
  const {agent, threadId, sinceMs = 0, before, limit = defaultLimit} = request
  if (before !== undefined && routes.length > 1)
    throw new SvcError('usage', {reason: 'A page requires a source, because each source has its own message ids.'})
  const agentId = agent === undefined ? undefined : requireReceiver(context, agent).id
  const pasts = routes.map((route) => histories[route](context, {agentId, threadId, sinceMs, before, limit}))
  const messages = pasts.flatMap((past) => past.messages)
  if (pasts.length > 1) messages.sort((a, b) => b.timestamp_ms - a.timestamp_ms)
  const page = messages.slice(0, limit)
  return {
    source,
    delivery_planes: routes.map((route) => planeOf[route]),
    routes: [...routes],
    total_messages: pasts.reduce((sum, {total}) => sum + total, 0),
    dropped_messages: routes.includes('local') ? context.bus.dropped() : 0,
    returned: page.length,
    messages: page,
  }
}

function readSource(context: MessageContext, word: string): OpenSource {
  const source = parseWord(word, inboxSources, 'source')
  if (source !== 'mesh') return source
  if (!hasMesh(context)) throw new SvcError('mesh_not_configured', {})
  throw new SvcError('usage', {
    reason: 'The mesh keeps no history. Read the inbox of an agent from the source mesh instead.',
  })
}

const histories: Readonly<Record<OpenRoute, (context: MessageContext, wanted: Wanted) => Past>> = {
  local: ({bus}, wanted) => bus.history(wanted),
  db(context, {agentId: agent = null, threadId: thread = null, sinceMs: since, before, limit}) {
    const {store, repositoryId: repository} = context
    const kept = {repository, agent, thread}
    const isAll = agent === null && thread === null
    return {
      total: store.get<{count: number}>(isAll ? countSql : keptCountSql, isAll ? {repository} : kept)?.count ?? 0,
      messages: store.all<MessageRow>(historySql, {...kept, since, ...pageEnd(context, before), limit}).map(toMessage),
    }
  },
}

/** The position of a message in the history. Ids alone do not order it, since a clock may be set back. @throws usage */
function pageEnd({store, repositoryId}: MessageContext, before: number | undefined) {
  if (before === undefined) return {beforeMs: Number.MAX_SAFE_INTEGER, beforeId: 0}
  const sql = 'SELECT created_at_ms FROM a2a_messages WHERE id = ? AND repository_id = ?'
  const row = store.get<{created_at_ms: number}>(sql, [before, repositoryId])
  if (row === undefined)
    throw new SvcError('usage', {reason: `There is no message ${before} before which a page could end.`})
  return {beforeMs: row.created_at_ms, beforeId: before}
}

const isKept = `repository_id = @repository AND (@agent IS NULL OR @agent IN (sender_agent, receiver_agent))
AND (@thread IS NULL OR thread_id = @thread)`

export const historySql = `SELECT * FROM a2a_messages
WHERE ${isKept} AND created_at_ms > @since AND (created_at_ms, id) < (@beforeMs, @beforeId)
ORDER BY created_at_ms DESC, id DESC LIMIT @limit`

export const countSql = 'SELECT count(*) AS count FROM a2a_messages WHERE repository_id = @repository'

export const keptCountSql = `SELECT count(*) AS count FROM a2a_messages WHERE ${isKept}`
