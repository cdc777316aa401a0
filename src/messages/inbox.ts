import {type A2AInboxV1, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
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
  /** Name or id; only the id for a retired agent. */
  agent: string | number
  /** Default: `merged`. */
  source?: string
  /** Maximum number of messages; limited by the consumer's batch size. */
  limit?: number
  /** Only messages with a smaller id, newest first. Requires a single source, since each source has its own ids. */
  before?: number
  /** Claim durable messages instead of only reading them. */
  claim?: boolean
  /** Read dead letters instead; only for the route `db`. */
  dead?: boolean
  /** Session of the agent; required if it has one. */
  sessionId?: string
}

export interface Inbox extends A2AInboxV1 {
  messages: Message[]
}

/**
 * Reads the unread messages of an agent on this machine, most urgent first, then oldest first. With `claim`, durable
 * messages are claimed.
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

/** A validated request with its reader. */
export interface Reading extends Omit<InboxRequest, 'limit' | 'source'>, Sources {
  readonly agentId: number
  readonly owner: string
  readonly limit: number
}

/** Validates a request and the identity of its reader. @throws agent_not_found, agent_session_mismatch, usage */
export function prepareReading(
  context: MessageContext,
  request: InboxRequest,
  consumer: Consumer,
  {source, routes}: Sources,
): Reading {
  if (request.before !== undefined && routes.length > 1)
    throw new SvcError('usage', {reason: 'A page requires a source, because each source has its own message ids.'})
  if ((request.claim || request.dead) && !routes.includes('db'))
    throw new SvcError('usage', {reason: 'Only messages of the source db can be claimed or become dead letters.'})
  if (request.claim && request.dead)
    throw new SvcError('usage', {reason: 'Dead letters cannot be claimed, because they are no longer delivered.'})
  if ((request.claim || request.dead) && request.before !== undefined)
    throw new SvcError('usage', {reason: 'Claimed messages and dead letters are not paginated.'})
  const agent = requireReceiver(context, request.agent)
  bindIdentity(agent, request.sessionId)
  return {...request, source, routes, agentId: agent.id, owner: consumer.owner, limit: limitOf(request, consumer)}
}

/** Reads the routes of this machine. */
export function readHere(context: MessageContext, reading: Reading): Found[] {
  sweepDeadLetters(context)
  return reading.routes.flatMap((route) => (route === 'mesh' ? [] : [inboxes[route](context, reading)]))
}

/** Assembles the reply. */
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

/** The messages of an agent on one route. */
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

/** Merges the messages of several planes. All claimed messages are included, since no one else can receive them. */
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
