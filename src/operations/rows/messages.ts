import type {Acknowledged, Broadcasted, Inbox, MessageHistory, Sent} from '../../messages/index.js'
import {type Operation, operation} from '../operation.js'
import {
  type AckInput,
  acknowledge,
  type BroadcastInput,
  broadcast,
  type HistoryInput,
  history,
  type InboxInput,
  readInbox,
  type SendInput,
  send,
} from '../perform-messages.js'
import {agentId, flag, integer, list, object, text} from '../schema.js'
import {message} from '../shapes.js'

const agentNamed = (description: string) => ({...agentId, description})

const sender = agentNamed('Sending agent: its name, or its id such as A-03.')
const type = text('Message type, such as help_request; an unknown type becomes free_form.', {maxLength: 256})
const payload = text('Content of the message, JSON by convention.')
const priority = text('Priority: low, normal, high or critical; default: normal.', {maxLength: 16})
const session = text('Session id of the agent; required if the agent is bound to a session.', {maxLength: 2048})
const route = text('Route: local (this process), db (durable) or mesh (other machines).', {maxLength: 16})
const source = text('Source: local, db, mesh or merged (all of them).', {maxLength: 16})
const claimer = text('Consumer name of the claim; JSON-RPC and MCP clients must set it.', {
  minLength: 1,
  maxLength: 256,
})
const page = integer('Only messages before the one with this id, to get the next page.', {minimum: 1})
const plane = text('Delivery plane: local_ephemeral, local_durable, remote_mesh or broadcast.')

/** Members of every answer about a single message. */
const delivery = {message_id: integer(), route: text(), delivery_plane: plane}
const deliveryRequired = ['message_id', 'route', 'delivery_plane']

export const messageOperations: readonly Operation[] = [
  operation<SendInput, Sent>({
    name: 'a2a_send',
    title: 'Send a message',
    summary: 'Send a message from one agent to another.',
    effect: 'write',
    idempotent: false,
    openWorld: true,
    input: object(
      {
        sender_id: sender,
        receiver_id: agentNamed('Receiving agent: its name or id, or its number with --route mesh.'),
        msg_type: type,
        payload,
        route,
        idempotency_key: text(
          'Idempotency key: a message with a key that was already used is not sent; default: the correlation id.',
        ),
        correlation_id: text('Id shared by related messages.'),
        thread_id: text('Conversation id of the message.'),
        tenant_id: text('Tenant id of the message.'),
        priority,
        sender_session_id: session,
      },
      {required: ['sender_id', 'receiver_id', 'msg_type', 'payload']},
    ),
    output: object(
      {...delivery, db_message_uuid: {type: ['string', 'null']}, duplicate: flag('True if the key was used before.')},
      {required: [...deliveryRequired, 'db_message_uuid', 'duplicate'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.send'},
      tool: {name: 'svc_a2a_send', tier: 'dev', lane: 'interop'},
      cli: {
        command: 'a2a send',
        renames: {
          from: 'sender_id',
          to: 'receiver_id',
          type: 'msg_type',
          key: 'idempotency_key',
          thread: 'thread_id',
          session: 'sender_session_id',
        },
        args: ['from', 'to', 'type', 'payload'],
        piped: ['payload'],
        placeholders: {
          priority: 'PRIORITY',
          route: 'ROUTE',
          key: 'KEY',
          thread: 'ID',
          session: 'ID',
          correlation_id: 'ID',
          tenant_id: 'ID',
        },
      },
    },
    run: send,
  }),
  operation<InboxInput, Inbox>({
    name: 'a2a_inbox',
    title: 'Read an inbox',
    summary: 'Show or claim the unread messages of an agent.',
    effect: 'write',
    idempotent: true,
    openWorld: true,
    input: object(
      {
        agent_id: agentId,
        source,
        max_messages: integer('Maximum number of messages; default: 256, or SVC_A2A_CLAIM_LIMIT if set.', {
          minimum: 1,
          maximum: 2048,
        }),
        before_message_id: page,
        claim: flag('Claim the messages, so that no other consumer receives them.'),
        consumer_id: claimer,
        dead: flag('Show dead letters instead of unread messages; use the id of a retired agent.'),
        agent_session_id: session,
      },
      {required: ['agent_id']},
    ),
    output: object(
      {
        agent_id: integer(),
        delivery_planes: list(text()),
        routes: list(text()),
        unread_count: integer(),
        dropped_messages: integer('Number of unread messages that were lost.'),
        messages: list(message),
      },
      {
        required: ['agent_id', 'delivery_planes', 'routes', 'unread_count', 'dropped_messages', 'messages'],
        open: true,
      },
    ),
    bindings: {
      rpc: {method: 'orch.a2a.inbox'},
      tool: {name: 'svc_a2a_inbox', tier: 'dev', lane: 'interop'},
      cli: {
        command: 'a2a inbox',
        renames: {
          agent: 'agent_id',
          limit: 'max_messages',
          before: 'before_message_id',
          as: 'consumer_id',
          session: 'agent_session_id',
        },
        args: ['agent'],
        placeholders: {source: 'SOURCE', as: 'OWNER', before: 'ID', session: 'ID'},
      },
    },
    run: readInbox,
  }),
  operation<AckInput, Acknowledged>({
    name: 'a2a_ack',
    title: 'Acknowledge a message',
    summary: 'Acknowledge a message, or report a failure to handle it.',
    effect: 'write',
    idempotent: true,
    openWorld: true,
    input: object(
      {
        agent_id: agentId,
        message_id: {
          type: ['integer', 'string'],
          description: 'Message id as the inbox shows it, such as 12 or mesh:12, or the UUID of a durable message.',
        },
        route,
        error: text('Reason for rejecting the message, which is then redelivered.', {maxLength: 4096}),
        force: flag('Acknowledge a message that another consumer holds.'),
        consumer_id: claimer,
        agent_session_id: session,
      },
      {required: ['agent_id', 'message_id']},
    ),
    output: object(
      {
        ...delivery,
        acknowledged: flag(
          'False if it could not be handled, or was acknowledged before, unless by the same consumer under its claim.',
        ),
      },
      {required: [...deliveryRequired, 'acknowledged'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.ack'},
      tool: {name: 'svc_a2a_ack', tier: 'dev', lane: 'interop', hidden: ['force']},
      cli: {
        command: 'a2a ack',
        renames: {agent: 'agent_id', id: 'message_id', as: 'consumer_id', session: 'agent_session_id'},
        args: ['agent', 'id'],
        hidden: ['route'],
        placeholders: {as: 'OWNER', session: 'ID'},
      },
    },
    run: acknowledge,
  }),
  operation<BroadcastInput, Broadcasted>({
    name: 'a2a_broadcast',
    title: 'Broadcast a message',
    summary: 'Send a message to all other agents.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        sender_id: sender,
        msg_type: type,
        payload,
        priority,
        route: text('Route: local (inboxes of this process) or db (durable inboxes).', {maxLength: 16}),
        sender_session_id: session,
      },
      {required: ['sender_id', 'msg_type', 'payload']},
    ),
    output: object(
      {
        ...delivery,
        message_id: {type: ['integer', 'null'], description: 'Null on the route db, where each copy has its own id.'},
        message_ids: list(integer(), 'On the route db, the ids of the copies.'),
        delivered_to: integer('Number of agents that received it.'),
        dropped_messages: integer(),
      },
      {required: [...deliveryRequired, 'message_ids', 'delivered_to', 'dropped_messages'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.broadcast'},
      tool: {name: 'svc_a2a_broadcast', tier: 'dev', lane: 'interop'},
      cli: {
        command: 'a2a broadcast',
        renames: {from: 'sender_id', type: 'msg_type', session: 'sender_session_id'},
        args: ['from', 'type', 'payload'],
        piped: ['payload'],
        hidden: ['route'],
        placeholders: {priority: 'PRIORITY', session: 'ID'},
      },
    },
    run: broadcast,
  }),
  operation<HistoryInput, MessageHistory>({
    name: 'a2a_history',
    title: 'List messages',
    summary: 'List messages between agents, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      agent_id: agentNamed('Only messages that this agent sent or received: its name or id.'),
      thread_id: text('Only messages of this conversation.', {maxLength: 512}),
      since_ms: integer('Only messages after this time, in Unix milliseconds.', {minimum: 0}),
      before_message_id: page,
      limit: integer('Maximum number of messages.', {minimum: 1, maximum: 1000, default: 50}),
      source,
    }),
    output: object(
      {
        delivery_planes: list(text()),
        routes: list(text()),
        total_messages: integer(),
        returned: integer(),
        messages: list(message),
      },
      {required: ['delivery_planes', 'routes', 'total_messages', 'returned', 'messages'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.history'},
      tool: {name: 'svc_a2a_history', tier: 'dev', lane: 'interop'},
      cli: {
        command: 'a2a history',
        renames: {agent: 'agent_id', thread: 'thread_id', before: 'before_message_id'},
        args: ['agent'],
        hidden: ['source', 'since_ms'],
        placeholders: {thread: 'ID', before: 'ID'},
      },
    },
    run: history,
  }),
]
