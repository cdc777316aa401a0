import {type Case, call, claim, deliver, lost, messageRow, nodeRow, ofMessage} from '../history.js'

const quarantine = (node: string, sent: number) =>
  call('admin_quarantine', {sent, status: 204, args: {node_id: node, quarantined: true}})
const drained = {event: 'drain', at: 5000, until: 8000, isAnswered: true}

/** What became of messages. A claim holds for 1000 ms. */
export const messageCases: Case[] = [
  {
    invariant: 'I-2',
    title: 'a message goes on when its holder is silent for too long, has acknowledged it, or is shut out',
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
    title: 'a message is with two nodes',
    parts: {calls: [claim('node-1', 1, 0), claim('node-2', 1, 500)]},
    broken: /message 1 was held by node-1 \(node-1\) and node-2 \(node-2\)/,
  },
  {
    invariant: 'I-2',
    title: 'a message goes to another node although it was renewed',
    parts: {
      calls: [claim('node-1', 1, 0), ofMessage('a2a_lease_renew', 'node-1', 1, 800), claim('node-2', 1, 1500)],
    },
    broken: /message 1/,
  },
  {
    invariant: 'I-3',
    title: 'what was accepted is there, acknowledged or not',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(2, 10)],
      messages: [messageRow(1, {idem_key: 'k', acked_at: 5}), messageRow(2)],
    },
  },
  {
    invariant: 'I-3',
    title: 'an accepted message is gone',
    parts: {calls: [deliver(1, 0), deliver(2, 10)], messages: [messageRow(1)]},
    broken: /Message 2 was accepted and is gone/,
  },
  {
    invariant: 'I-3',
    title: 'an accepted message has become another one',
    parts: {calls: [deliver(1, 0)], messages: [messageRow(1, {payload: 'other'})]},
    broken: /Message 1 is another one/,
  },
  {
    invariant: 'I-4',
    title: 'a message comes again before its acknowledgement was answered',
    parts: {
      calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-1', 1, 20), claim('node-2', 1, 25)],
      messages: [messageRow(1, {acked_at: 1})],
    },
  },
  {
    invariant: 'I-4',
    title: 'a message comes again after it was acknowledged',
    parts: {calls: [ofMessage('a2a_ack', 'node-1', 1, 20), claim('node-2', 1, 40)]},
    broken: /Message 1 was acknowledged, and came again/,
  },
  {
    invariant: 'I-4',
    title: 'an acknowledgement is lost',
    parts: {calls: [ofMessage('a2a_ack', 'node-1', 1, 20)], messages: [messageRow(1)]},
    broken: /acknowledgement of message 1 is lost/,
  },
  {
    invariant: 'I-6',
    title: 'a key that is sent again is the message of the first time',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(1, 50, {key: 'k'})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
  },
  {
    invariant: 'I-6',
    title: 'a key becomes two messages',
    parts: {calls: [deliver(1, 0, {key: 'k'}), deliver(2, 50, {key: 'k'})]},
    broken: /9 to 1 under k became the messages 1, 2/,
  },
  {
    invariant: 'I-6',
    title: 'a key is in the file twice',
    parts: {messages: [messageRow(1, {idem_key: 'k'}), messageRow(2, {idem_key: 'k'})]},
    broken: /is there 2 times/,
  },
  {
    invariant: 'I-7',
    title: 'another message under the key is refused',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(undefined, 50, {key: 'k', payload: 'other', status: 422})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
  },
  {
    invariant: 'I-7',
    title: 'another message under the key is accepted',
    parts: {calls: [deliver(1, 0, {key: 'k'}), deliver(1, 50, {key: 'k', payload: 'other'})]},
    broken: /accepted for two messages that differ/,
  },
  {
    invariant: 'I-7',
    title: 'what was refused is what is kept',
    parts: {
      calls: [deliver(undefined, 50, {key: 'k', payload: 'other', status: 422})],
      messages: [messageRow(1, {idem_key: 'k', payload: 'other'})],
    },
    broken: /has what was never accepted/,
  },
  {
    invariant: 'I-7',
    title: 'the message of the key itself is refused',
    parts: {
      calls: [deliver(1, 0, {key: 'k'}), deliver(undefined, 50, {key: 'k', status: 422})],
      messages: [messageRow(1, {idem_key: 'k'})],
    },
    broken: /refused to the message that it belongs to/,
  },
  {
    invariant: 'I-8',
    title: 'in the end everything is acknowledged or given up',
    parts: {events: [drained], messages: [messageRow(1, {acked_at: 1}), messageRow(2, {dead_at: 1})]},
  },
  {
    invariant: 'I-8',
    title: 'a message waits for ever',
    parts: {events: [drained], messages: [messageRow(1, {holder: 'node-1'})]},
    broken: /Message 1 still waits, claimed by node-1/,
  },
  {
    invariant: 'I-8',
    title: 'nobody is told that nothing waits',
    parts: {events: [{...drained, isAnswered: false}]},
    broken: /were not answered/,
  },
  {
    invariant: 'alive',
    title: 'a server that is killed is no server that ends by itself',
    parts: {events: [{event: 'kill', at: 10, until: 20}]},
  },
  {
    invariant: 'alive',
    title: 'a server ends by itself',
    parts: {events: [{event: 'died', at: 10}]},
    broken: /ended by itself/,
  },
  {
    invariant: 'I-12',
    title: 'somebody else acknowledges what a node has',
    parts: {calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-2', 1, 100)]},
    broken: /node-2 did a2a_ack of message 1, which node-1 had/,
  },
  {
    invariant: 'I-12',
    title: 'somebody else acknowledges what nobody has any more',
    parts: {calls: [claim('node-1', 1, 0), ofMessage('a2a_ack', 'node-2', 1, 1200)]},
  },
  {
    invariant: 'I-20',
    title: 'the inbox refuses when it is full, and says when to come back',
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
    title: 'more messages wait than may',
    parts: {maxMessages: 1, calls: [deliver(1, 0), deliver(2, 20)], messages: [messageRow(1), messageRow(2)]},
    broken: /2 messages waited, and 1 may/,
  },
  {
    invariant: 'I-20',
    title: 'a sender is put off without a time',
    parts: {calls: [{...deliver(undefined, 20, {status: 429}), code: 'inbox_full'}]},
    broken: /without a reason or a time/,
  },
  {
    invariant: 'I-23',
    title: 'what is there was sent, also where no answer came',
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
    title: 'a request that never arrived whole has left a message',
    parts: {calls: [{...deliver(undefined, 0), copies: []}], messages: [messageRow(1)]},
    broken: /Message 1 is there and was sent 0 times/,
  },
  {
    invariant: 'I-23',
    title: 'a node has left, and still has a message',
    parts: {
      calls: [deliver(1, 0), call('heartbeat', {sent: 50, status: 200, body: {server_time_unix_ms: 100}})],
      messages: [messageRow(1, {holder: 'node-1', lease_expires: 500})],
      nodes: [nodeRow('node-1', {left_at: 50})],
    },
    broken: /Message 1 is with node-1, which has left/,
  },
  {
    invariant: 'I-23',
    title: 'the file is damaged',
    parts: {integrity: 'row 7 missing from index mesh_messages_key'},
    broken: /row 7 missing/,
  },
  {
    invariant: 'I-25',
    title: 'pages are as long as was asked for, newest first',
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
    title: 'a page is longer than was asked for',
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
    broken: /A page of 1 had 2 messages/,
  },
  {
    invariant: 'I-25',
    title: 'a page is out of order',
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
    broken: /Message 8 came after 3/,
  },
]
