import type {Acknowledged, Broadcasted, Inbox, MessageHistory, Sent} from '../../messages/index.js'
import {type Operation, operation} from '../operation.js'
import {
  type AckInput,
  acknowledge,
  broadcast,
  type HistoryInput,
  history,
  type InboxInput,
  readInbox,
  type Sender,
  type SendInput,
  send,
} from '../perform-messages.js'
import {agentId, flag, integer, list, object, text} from '../schema.js'
import {message} from '../shapes.js'

const agentNamed = (description: string) => ({...agentId, description})

const sender = agentNamed('The agent that sends: its name, or its id such as A-03.')
const type = text('What it is about, such as help_request; free_form where nobody knows the word.', {maxLength: 256})
const payload = text('What it says; JSON by convention.')
const priority = text('low, normal, high or critical.', {maxLength: 16})
const session = text('Session of the agent; needed where it has one.', {maxLength: 2048})
const route = text('local (within this process), db (durable) or mesh (other machines).', {maxLength: 16})
const source = text('local, db, mesh or merged (all there are).', {maxLength: 16})
const claimer = text('For whom messages are claimed; whoever claims through a server says so.', {
  minLength: 1,
  maxLength: 256,
})
const plane = text('Plane on which it travels: local_ephemeral, local_durable, remote_mesh or broadcast.')

/** What every answer about one message says. */
const where = {message_id: integer(), route: text(), delivery_plane: plane}
const whereRequired = ['message_id', 'route', 'delivery_plane']

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
        receiver_id: agentNamed('The agent that it is for: its name or its id; its number on the route mesh.'),
        msg_type: type,
        payload,
        route,
        idempotency_key: text('It is sent once under this key; the correlation id where there is none.'),
        correlation_id: text('What it belongs to.'),
        thread_id: text('Conversation of which it is part.'),
        tenant_id: text('Tenant that it belongs to.'),
        priority,
        sender_session_id: session,
      },
      {required: ['sender_id', 'receiver_id', 'msg_type', 'payload']},
    ),
    output: object(
      {...where, db_message_uuid: {type: ['string', 'null']}, duplicate: flag('It was there already, under its key.')},
      {required: [...whereRequired, 'db_message_uuid', 'duplicate'], open: true},
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
        placeholders: {route: 'ROUTE', key: 'KEY', thread: 'ID', session: 'ID', correlation_id: 'ID', tenant_id: 'ID'},
      },
    },
    run: send,
  }),
  operation<InboxInput, Inbox>({
    name: 'a2a_inbox',
    title: 'Read an inbox',
    summary: 'Show the unread messages of an agent, or claim them.',
    effect: 'write',
    idempotent: true,
    openWorld: true,
    input: object(
      {
        agent_id: agentId,
        source,
        max_messages: integer('At most so many.', {minimum: 1, maximum: 2048}),
        before_message_id: integer('Only messages with a smaller id, of one source: the next page.', {minimum: 1}),
        claim: flag('Take durable messages for two minutes: nobody else gets them meanwhile.'),
        consumer_id: claimer,
        dead: flag(
          'The dead letters instead: delivered too often, or left by an agent that is retired, named by its id.',
        ),
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
        dropped_messages: integer('Unread messages that were lost.'),
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
        hidden: ['source'],
        placeholders: {as: 'OWNER', before: 'ID', session: 'ID'},
      },
    },
    run: readInbox,
  }),
  operation<AckInput, Acknowledged>({
    name: 'a2a_ack',
    title: 'Acknowledge a message',
    summary: 'Acknowledge a message, or say why it could not be handled.',
    effect: 'write',
    idempotent: true,
    openWorld: true,
    input: object(
      {
        agent_id: agentId,
        message_id: {
          type: ['integer', 'string'],
          description: 'The uuid of a durable message, mesh:12 for one of another machine, or its id on its route.',
        },
        route,
        error: text('Why it could not be handled: it is delivered again instead.', {maxLength: 4096}),
        consumer_id: claimer,
        agent_session_id: session,
      },
      {required: ['agent_id', 'message_id']},
    ),
    output: object(
      {...where, acknowledged: flag('False where it had been before, or could not be handled.')},
      {required: [...whereRequired, 'acknowledged'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.ack'},
      tool: {name: 'svc_a2a_ack', tier: 'dev', lane: 'interop'},
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
  operation<Sender, Broadcasted>({
    name: 'a2a_broadcast',
    title: 'Broadcast a message',
    summary: 'Send a message to every other agent of this process.',
    effect: 'write',
    idempotent: false,
    input: object(
      {sender_id: sender, msg_type: type, payload, priority, sender_session_id: session},
      {required: ['sender_id', 'msg_type', 'payload']},
    ),
    output: object(
      {...where, delivered_to: integer('How many agents have it.'), dropped_messages: integer()},
      {required: [...whereRequired, 'delivered_to', 'dropped_messages'], open: true},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.broadcast'},
      tool: {name: 'svc_a2a_broadcast', tier: 'dev', lane: 'interop'},
    },
    run: broadcast,
  }),
  operation<HistoryInput, MessageHistory>({
    name: 'a2a_history',
    title: 'List messages',
    summary: 'List what agents have sent to each other, the newest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      since_ms: integer('Only messages after this moment, Unix milliseconds.', {minimum: 0}),
      limit: integer('At most so many.', {minimum: 1, maximum: 1000, default: 50}),
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
    },
    run: history,
  }),
]
