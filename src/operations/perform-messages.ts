import {SvcError} from '../errors/index.js'
import type {Acknowledged, Broadcasted, Inbox, MessageHistory, Sent} from '../messages/index.js'
import type {OperationContext, Surface} from './context.js'
import {renamed} from './renamed.js'

interface Sender {
  sender_id: string | number
  msg_type: string
  payload: string
  priority?: string
  sender_session_id?: string
}

export interface BroadcastInput extends Sender {
  route?: string
}

export interface SendInput extends BroadcastInput {
  receiver_id: string | number
  idempotency_key?: string
  correlation_id?: string
  thread_id?: string
  tenant_id?: string
}

/** The agent whose inbox is read, and the consumer that claims messages. */
interface Reader {
  agent_id: string | number
  consumer_id?: string
  agent_session_id?: string
}

export interface InboxInput extends Reader {
  source?: string
  max_messages?: number
  before_message_id?: number
  claim?: boolean
  dead?: boolean
}

export interface AckInput extends Reader {
  message_id: string | number
  route?: string
  error?: string
  force?: boolean
}

export interface HistoryInput {
  agent_id?: string | number
  thread_id?: string
  since_ms?: number
  before_message_id?: number
  limit?: number
  source?: string
}

const sending = {
  sender: 'sender_id',
  type: 'msg_type',
  payload: 'payload',
  priority: 'priority',
  sessionId: 'sender_session_id',
} as const

/** Defaults. A command runs in its own process, so a local message would be lost when it exits. */
const defaultRoute = (surface: Surface) => (surface === 'cli' ? 'db' : 'local')
const defaultSource = (surface: Surface) => (surface === 'cli' ? 'db' : 'merged')

export function send(input: SendInput, context: OperationContext): Sent | Promise<Sent> {
  const {modules, orchestrator, surface, notice} = context
  const request = {
    route: defaultRoute(surface),
    ...renamed(input, {
      ...sending,
      receiver: 'receiver_id',
      route: 'route',
      key: 'idempotency_key',
      correlationId: 'correlation_id',
      threadId: 'thread_id',
      tenantId: 'tenant_id',
    }),
  }
  const sent = modules.messages.sendRouted(orchestrator, request, context)
  if (surface === 'cli' && !(sent instanceof Promise) && sent.route === 'local')
    notice('warning: A message on the route local is lost when this command exits.')
  return sent
}

export function readInbox(input: InboxInput, context: OperationContext): Inbox | Promise<Inbox> {
  const request = {
    source: defaultSource(context.surface),
    ...renamed(input, {
      agent: 'agent_id',
      source: 'source',
      limit: 'max_messages',
      before: 'before_message_id',
      claim: 'claim',
      dead: 'dead',
      sessionId: 'agent_session_id',
    }),
  }
  const consumer = consumerOf(context, input, input.claim ? {operation: 'a2a_inbox', member: 'claim'} : undefined)
  const {signal, notice} = context
  return context.modules.messages.readRouted(context.orchestrator, request, {consumer, signal, notice})
}

export function acknowledge(input: AckInput, context: OperationContext): Acknowledged | Promise<Acknowledged> {
  const request = {
    route: defaultRoute(context.surface),
    ...renamed(input, {
      agent: 'agent_id',
      message: 'message_id',
      route: 'route',
      error: 'error',
      force: 'force',
      sessionId: 'agent_session_id',
    }),
  }
  const isFailure = input.error !== undefined
  const {owner} = consumerOf(context, input, isFailure ? {operation: 'a2a_ack', member: 'error'} : undefined)
  return context.modules.messages.ackRouted(context.orchestrator, request, owner, context)
}

export const broadcast = (input: BroadcastInput, {modules, orchestrator, surface}: OperationContext): Broadcasted =>
  modules.messages.broadcastMessage(orchestrator, {
    route: defaultRoute(surface),
    ...renamed(input, {...sending, route: 'route'}),
  })

export const history = (input: HistoryInput, {modules, orchestrator, surface}: OperationContext): MessageHistory =>
  modules.messages.messageHistory(orchestrator, {
    source: defaultSource(surface),
    ...renamed(input, {
      agent: 'agent_id',
      threadId: 'thread_id',
      sinceMs: 'since_ms',
      before: 'before_message_id',
      limit: 'limit',
      source: 'source',
    }),
  })

/**
 * The consumer that claims: the one in the input, else this process. A server must get it from the caller, since all
 * its callers share one process. As a single consumer, they would get each other's messages, and repeated deliveries
 * would not be counted.
 * @throws params_invalid
 */
function consumerOf(
  {modules, sources, surface, notice}: OperationContext,
  {consumer_id: owner}: Reader,
  claimed?: Claimed,
) {
  if (claimed !== undefined && owner === undefined && surface !== 'cli')
    throw new SvcError('params_invalid', {
      operation: claimed.operation,
      violations: [`with ${claimed.member}, consumer_id is required, since all clients share this process`],
    })
  const consumer = modules.messages.consumerOf(sources, notice)
  return owner === undefined ? consumer : {...consumer, owner}
}

/** The member of an input that requires a consumer. */
interface Claimed {
  operation: string
  member: string
}
