import {type Case, call, claim, deliver, lost, messageRow, nodeRow, ofMessage} from '../history.js'

const quarantine = (node: string, sent: number) =>
  call('admin_quarantine', {sent, status: 204, args: {node_id: node, quarantined: true}})
/** A request of an orchestrator that waits for messages of agent 1. */
const wait = (sent: number, answered: number) =>
  call('a2a_inbox', {
    ...{sent, answered, status: 200, isObserved: true},
    args: {receiver_agent_id: '1', wait_ms: 25_000, message_types: ['free_form']},
    body: {messages: []},
  })
const drained = {event: 'drain', at: 5000, until: 8000, isAnswered: true}

/** Histories of messages. A claim lasts 1000 ms. */
export const messageCases: Case[] = [
  {
    invariant: 'I-2',
    title: 'a claim after the previous one has expired, was acknowledged, or its holder was quarantined',
    parts: {
      calls: [
        claim('node-1', 1, 0),
        claim('node-2', 1, 1000),
        quarantine('node-2', 1050),
        claim('node-3', 1, 1100),
        lost('a2a_ack', {sent: 1200, args: {message_id: 1, claimer_node_id: 'node-3'}}, 1210),
        claim('node-4', 1, 1250),
      ],
    },
  },
  {
    invariant: 'I-2',
    title: 'a message claimed by two nodes',
    parts: {calls: [claim('node-1', 1, 0), claim('node-2', 1, 500)]},
    broken: /message 1 was held by node-1 \(node-1\) and node-2 \(node-2\)/,
  },
  {
    invariant: 'I-2',
    title: 'a claim of a message whose claim was renewed',
    parts: {
      calls: [claim('node-1', 1, 0), ofMessage('a2a_lease_renew', 'node-1', 1, 800), claim('node-2', 1, 1500)],
    },
    broken: /message 1/,
  },
  {
    invariant: 'I-3',
    title: 'accepted messages that are stored, acknowledged or not',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(2, 10)],
      messages: [messageRow(1, {idem_key: 'k', acked_at: 5}), messageRow(2)],
    },
  },
  {
    invariant: 'I-3',
    title: 'a missing accepted message',
    parts: {calls: [deliver(1, 0), deliver(2, 10)], messages: [messageRow(1)]},
    broken: /Message 2 was accepted and is gone/,
  },
  {
    invariant: 'I-3',
    title: 'an accepted message with other content',
    parts: {calls: [deliver(1, 0)], messages: [messageRow(1, {payload: 'other'})]},
    broken: /Message 1 differs from what was sent/,
  },
  {
    invariant: 'I-4',
    title: 'a message returned again before its acknowledgement was confirmed',
    parts: {
      calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-1', 1, 20), claim('node-2', 1, 25)],
      messages: [messageRow(1, {acked_at: 1})],
    },
  },
  {
    invariant: 'I-4',
    title: 'a message returned again after it was acknowledged',
    parts: {calls: [ofMessage('a2a_ack', 'node-1', 1, 20), claim('node-2', 1, 40)]},
    broken: /Message 1 was returned after it was acknowledged/,
  },
  {
    invariant: 'I-4',
    title: 'a lost acknowledgement',
    parts: {calls: [ofMessage('a2a_ack', 'node-1', 1, 20)], messages: [messageRow(1)]},
    broken: /acknowledgement of message 1 was lost/,
  },
  {
    invariant: 'I-6',
    title: 'a repeated key that returns the first message',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(1, 50, {key: 'k'})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
  },
  {
    invariant: 'I-6',
    title: 'a key that creates two messages',
    parts: {calls: [deliver(1, 0, {key: 'k'}), deliver(2, 50, {key: 'k'})]},
    broken: /9 to 1 with key k created the messages 1, 2/,
  },
  {
    invariant: 'I-6',
    title: 'a key stored twice',
    parts: {messages: [messageRow(1, {idem_key: 'k'}), messageRow(2, {idem_key: 'k'})]},
    broken: /is stored 2 times/,
  },
  {
    invariant: 'I-7',
    title: 'a refused different message with the same key',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(undefined, 50, {key: 'k', payload: 'other', status: 422})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
  },
  {
    invariant: 'I-7',
    title: 'an accepted different message with the same key',
    parts: {calls: [deliver(1, 0, {key: 'k'}), deliver(1, 50, {key: 'k', payload: 'other'})]},
    broken: /accepted for two different messages/,
  },
  {
    invariant: 'I-7',
    title: 'a stored message that was refused',
    parts: {
      calls: [deliver(undefined, 50, {key: 'k', payload: 'other', status: 422})],
      messages: [messageRow(1, {idem_key: 'k', payload: 'other'})],
    },
    broken: /stored with a message that was never accepted/,
  },
  {
    invariant: 'I-7',
    title: 'a refused repetition of the stored message',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(undefined, 50, {key: 'k', status: 422})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
    broken: /refused for the stored message itself/,
  },
  {
    invariant: 'I-8',
    title: 'messages that are all acknowledged or dead in the end',
    parts: {events: [drained], messages: [messageRow(1, {acked_at: 1}), messageRow(2, {dead_at: 1})]},
  },
  {
    invariant: 'I-8',
    title: 'a message that stays pending',
    parts: {events: [drained], messages: [messageRow(1, {holder: 'node-1'})]},
    broken: /Message 1 is still pending, claimed by node-1/,
  },
  {
    invariant: 'I-8',
    title: 'a drain without responses',
    parts: {events: [{...drained, isAnswered: false}]},
    broken: /were not answered/,
  },
  {
    invariant: 'I-8',
    title: 'a wait that ends with a message',
    parts: {calls: [wait(0, 5100), deliver(1, 5000), wait(5200, 12_000)]},
  },
  {
    invariant: 'I-8',
    title: 'a wait that ends long after a message',
    parts: {calls: [wait(0, 9500), deliver(1, 5000)]},
    broken: /answered 4490 ms after one had arrived/,
  },
  {
    invariant: 'I-8',
    title: 'a wait that ends long after a message, because the server was suspended',
    parts: {calls: [wait(0, 9500), deliver(1, 5000)], events: [{event: 'freeze', at: 6000, until: 9000}]},
  },
  {
    invariant: 'alive',
    title: 'a server that is killed on purpose',
    parts: {events: [{event: 'kill', at: 10, until: 20}]},
  },
  {
    invariant: 'alive',
    title: 'a server that exits unexpectedly',
    parts: {events: [{event: 'died', at: 10}]},
    broken: /exited unexpectedly/,
  },
  {
    invariant: 'I-12',
    title: 'an acknowledgement by a node that is not the holder',
    parts: {calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-2', 1, 100)]},
    broken: /a2a_ack by node-2 succeeded for message 1, held by node-1/,
  },
  {
    invariant: 'I-12',
    title: 'an acknowledgement by another node after the claim expired',
    parts: {calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-2', 1, 1200)]},
  },
  {
    invariant: 'I-20',
    title: 'a full inbox that refuses with Retry-After',
    parts: {
      maxMessages: 1,
      calls: [
        deliver(1, 0),
        {...deliver(undefined, 20, {status: 429}), code: 'inbox_full', retryAfter: '1'},
        ofMessage('a2a_ack', 'node-1', 1, 40),
        deliver(2, 60),
      ],
      messages: [messageRow(1, {acked_at: 1}), messageRow(2)],
    },
  },
  {
    invariant: 'I-20',
    title: 'more pending messages than the limit',
    parts: {maxMessages: 1, calls: [deliver(1, 0), deliver(2, 20)], messages: [messageRow(1), messageRow(2)]},
    broken: /2 messages were pending; the limit is 1/,
  },
  {
    invariant: 'I-20',
    title: 'a 429 without Retry-After',
    parts: {calls: [{...deliver(undefined, 20, {status: 429}), code: 'inbox_full'}]},
    broken: /without a code or Retry-After/,
  },
  {
    invariant: 'I-23',
    title: 'stored messages that were sent, even without a response',
    parts: {
      calls: [
        lost('a2a_deliver', {sent: 0, args: deliver(undefined, 0).args}, 20),
        call('heartbeat', {sent: 50, status: 200, body: {server_time_unix_ms: 100}}),
      ],
      messages: [messageRow(1, {holder: 'node-1', lease_expires: 500})],
      nodes: [nodeRow('node-1')],
    },
  },
  {
    invariant: 'I-23',
    title: 'a message stored from an incomplete request',
    parts: {calls: [{...deliver(undefined, 0), copies: []}], messages: [messageRow(1)]},
    broken: /Message 1 is stored but was sent 0 times/,
  },
  {
    invariant: 'I-23',
    title: 'a claim of a node that has left',
    parts: {
      calls: [deliver(1, 0), call('heartbeat', {sent: 50, status: 200, body: {server_time_unix_ms: 100}})],
      messages: [messageRow(1, {holder: 'node-1', lease_expires: 500})],
      nodes: [nodeRow('node-1', {left_at: 50})],
    },
    broken: /Message 1 is held by node-1, which has left/,
  },
  {
    invariant: 'I-23',
    title: 'a corrupt database',
    parts: {integrity: 'row 7 missing from index mesh_messages_key'},
    broken: /row 7 missing/,
  },
  {
    invariant: 'I-25',
    title: 'pages within the limit, newest first',
    parts: {
      calls: [
        call('a2a_inbox', {
          sent: 0,
          status: 200,
          args: {receiver_agent_id: '1', max_messages: 2, before_message_id: 9},
          body: {messages: [{id: 8}, {id: 3}]},
        }),
      ],
    },
  },
  {
    invariant: 'I-25',
    title: 'a page longer than the limit',
    parts: {
      calls: [
        call('a2a_inbox', {
          sent: 0,
          status: 200,
          args: {receiver_agent_id: '1', max_messages: 1},
          body: {messages: [{id: 8}, {id: 3}]},
        }),
      ],
    },
    broken: /A page with a limit of 1 had 2 messages/,
  },
  {
    invariant: 'I-25',
    title: 'a page out of order',
    parts: {
      calls: [
        call('a2a_inbox', {
          sent: 0,
          status: 200,
          args: {receiver_agent_id: '1', before_message_id: 9},
          body: {messages: [{id: 3}, {id: 8}]},
        }),
      ],
    },
    broken: /Message 8 was listed after 3/,
  },
]
