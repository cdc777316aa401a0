import type {A2AInboxV1} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {withoutUndefined} from '../tasks/index.js'
import {claimMessages} from './claim.js'
import type {Consumer} from './consumer.js'
import type {MessageContext} from './context.js'
import {sweepDeadLetters} from './dead-letters.js'
import {bindIdentity} from './identity.js'
import {byUrgencyAcrossPlanes, type Message} from './message.js'
import {type InboxSource, type OpenRoute, type OpenSource, planeOf, type Route, routesOf} from './planes.js'
import {requireReceiver} from './receiver.js'
import {countUnread, readDeadLetters, readUnread} from './unread.js'

export interface InboxRequest {
  /** By its name or id; one that is retired by its id. */
  agent: string | number
  /** `merged` where it is left out. */
  source?: string
  /** At most so many messages; never more than the consumer takes at once. */
  limit?: number
  /** Only messages with a smaller id, the newest first; of one source alone, since each counts its own. */
  before?: number
  /** Claim what is durable, instead of looking at it. */
  claim?: boolean
  /** The dead letters instead; only of the route `db`. */
  dead?: boolean
  /** Of the agent; named where it has one. */
  sessionId?: string
}

export interface Inbox extends A2AInboxV1 {
  messages: Message[]
}

/**
 * Shows the unread messages of an agent on this machine, the most urgent first, then the oldest; takes the durable ones
 * for a while where they are claimed.
 * @throws agent_not_found, agent_session_mismatch, usage
 */
export function readInbox(
  context: MessageContext,
  {source = 'merged', ...request}: InboxRequest & {source?: OpenSource},
  consumer: Consumer,
): Inbox {
  const reading = prepareReading(context, request, consumer, {source, routes: routesOf(source)})
  return toInbox(context, reading, readHere(context, reading))
}

interface Sources {
  readonly source: InboxSource
  readonly routes: readonly Route[]
}

/** What is read, and by whom. */
export interface Reading extends Omit<InboxRequest, 'limit' | 'source'>, Sources {
  readonly agentId: number
  readonly owner: string
  readonly limit: number
}

/** Whether that can be read, and by this one. @throws agent_not_found, agent_session_mismatch, usage */
export function prepareReading(
  context: MessageContext,
  request: InboxRequest,
  consumer: Consumer,
  {source, routes}: Sources,
): Reading {
  if (request.before !== undefined && routes.length > 1)
    throw new SvcError('usage', {reason: 'Each source counts its own ids; name the one whose next page it is.'})
  if ((request.claim || request.dead) && !routes.includes('db'))
    throw new SvcError('usage', {reason: 'Only messages of the source db are claimed, or become dead letters.'})
  if (request.claim && request.dead)
    throw new SvcError('usage', {reason: 'Dead letters are not delivered any more, and so not claimed.'})
  if ((request.claim || request.dead) && request.before !== undefined)
    throw new SvcError('usage', {reason: 'What is claimed, and what is dead, comes in no pages.'})
  const agent = requireReceiver(context, request.agent)
  bindIdentity(agent, request.sessionId)
  return {...request, source, routes, agentId: agent.id, owner: consumer.owner, limit: limitOf(request, consumer)}
}

/** What the routes of this machine have of it. */
export function readHere(context: MessageContext, reading: Reading): Found[] {
  sweepDeadLetters(context)
  return reading.routes.flatMap((route) => (route === 'mesh' ? [] : [inboxes[route](context, reading)]))
}

/** What was found, as it is shown. */
export function toInbox(context: MessageContext, reading: Reading, found: readonly Found[]): Inbox {
  const {agentId, source, routes, claim, owner} = reading
  return {
    agent_id: agentId,
    source,
    delivery_planes: routes.map((route) => planeOf[route]),
    routes: [...routes],
    unread_count: found.reduce((sum, {unread}) => sum + unread, 0),
    remote_attempted: false,
    remote_ok: false,
    dropped_messages: routes.includes('local') ? context.bus.dropped(agentId) : 0,
    suppressed_count: 0,
    focus_depth_filter_active: false,
    ...withoutUndefined({consumer_id: claim ? owner : undefined}),
    messages: merge(found, reading),
  }
}

const limitOf = ({limit}: InboxRequest, consumer: Consumer): number => Math.min(limit ?? consumer.limit, consumer.limit)

/** What a route has for an agent. */
export interface Found {
  readonly unread: number
  readonly messages: readonly Message[]
}

const inboxes: Readonly<Record<OpenRoute, (context: MessageContext, reading: Reading) => Found>> = {
  local({bus}, {agentId, before, dead, limit}) {
    const unread = bus.unread(agentId)
    if (dead) return {unread: unread.length, messages: []}
    const page = before === undefined ? unread : unread.filter(({id}) => id < before).sort((a, b) => b.id - a.id)
    return {unread: unread.length, messages: page.slice(0, limit)}
  },
  db(context, {agentId, before, claim, dead, owner, limit}) {
    const read = () => {
      if (dead) return readDeadLetters(context, agentId, limit)
      if (claim) return claimMessages(context, agentId, {owner, limit})
      return readUnread(context, agentId, {limit, before})
    }
    return {messages: read(), unread: countUnread(context, agentId)}
  },
}

/** Messages of several planes as one list. What was claimed is all in it: nobody else can have it meanwhile. */
function merge(found: readonly Found[], {claim = false, limit}: Reading): Message[] {
  const all = found.flatMap(({messages}) => messages)
  if (found.length === 1) return all
  const kept = claim ? withoutOverflow(all, limit) : all
  return kept.sort(byUrgencyAcrossPlanes).slice(0, limit)
}

function withoutOverflow(all: readonly Message[], limit: number): Message[] {
  const claimed = all.filter(({route}) => route === 'db')
  const others = all.filter(({route}) => route !== 'db')
  others.sort(byUrgencyAcrossPlanes)
  return [...claimed, ...others.slice(0, Math.max(0, limit - claimed.length))]
}
