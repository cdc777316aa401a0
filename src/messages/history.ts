import {SvcError} from '../errors/index.js'
import type {MessageContext} from './context.js'
import {hasMesh} from './mesh/plane.js'
import type {Message} from './message.js'
import {type MessageRow, toMessage} from './message-rows.js'
import {
  type DeliveryPlane,
  inboxSources,
  type OpenRoute,
  type OpenSource,
  parseWord,
  planeOf,
  routesOf,
} from './planes.js'

export interface HistoryRequest {
  /** Default: `merged`. */
  source?: string
  /** Only messages sent after this time, Unix ms. */
  sinceMs?: number
  limit?: number
}

/** Sent messages, newest first. */
export interface MessageHistory {
  source: OpenSource
  delivery_planes: DeliveryPlane[]
  routes: OpenRoute[]
  /** Number of messages, including those that are not returned. */
  total_messages: number
  /** Number of unread messages dropped since this process started. */
  dropped_messages: number
  returned: number
  messages: Message[]
}

const defaultLimit = 50

/** Lists messages between all agents of this machine. @throws mesh_not_configured, usage */
export function messageHistory(context: MessageContext, request: HistoryRequest): MessageHistory {
  const source = readSource(context, request.source ?? 'merged')
  const routes = routesOf(source)
  const {sinceMs = 0, limit = defaultLimit} = request
  const pasts = routes.map((route) => histories[route](context, sinceMs, limit))
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

interface Past {
  readonly total: number
  readonly messages: readonly Message[]
}

const histories: Readonly<Record<OpenRoute, (context: MessageContext, sinceMs: number, limit: number) => Past>> = {
  local: ({bus}, sinceMs, limit) => bus.history(sinceMs, limit),
  db: ({store, repositoryId: repository}, since, limit) => ({
    total: store.get<{count: number}>(countSql, {repository})?.count ?? 0,
    messages: store.all<MessageRow>(historySql, {repository, since, limit}).map(toMessage),
  }),
}

export const historySql = `SELECT * FROM a2a_messages WHERE repository_id = @repository AND created_at_ms > @since
ORDER BY created_at_ms DESC, id DESC LIMIT @limit`

export const countSql = 'SELECT count(*) AS count FROM a2a_messages WHERE repository_id = @repository'
