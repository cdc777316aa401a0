import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  broadcastMessage,
  type HistoryRequest,
  type Message,
  messageHistory,
  readInbox,
  sendMessage,
} from '../../src/messages/index.js'
import {readEvents} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {ackHere, consumer, giveSession, openWithAgents} from './support/agents.js'

/** For each route: its plane, and the messages visible to another process. */
const planes = [
  {route: 'local', plane: 'local_ephemeral', elsewhere: []},
  {route: 'db', plane: 'local_durable', elsewhere: ['hello']},
] as const

describe('message routes', () => {
  for (const {route, plane, elsewhere} of planes)
    it(`${route} uses the plane ${plane}, of which another process sees ${elsewhere.length} messages`, async (t) => {
      const orchestrator = await openWithAgents(t)
      const sent = orchestrator.say('hello', {route})
      assert.deepEqual([sent.route, sent.delivery_plane, sent.route_ok], [route, plane, true])
      assert.equal(sent.db_message_uuid !== null, route === 'db')

      const here = readInbox(orchestrator, {agent: 'bert', source: route}, consumer())
      assert.deepEqual([here.delivery_planes, here.routes, here.unread_count], [[plane], [route], 1])
      const [message] = here.messages
      assert.deepEqual([message?.payload, message?.route, message?.delivery_plane], ['hello', route, plane])

      const other = await openTestOrchestrator(t, {root: orchestrator.root})
      const there = readInbox(other, {agent: 'bert'}, consumer())
      assert.deepEqual(
        there.messages.map(({payload}) => payload),
        elsewhere,
      )

      const acked = ackHere(orchestrator, {agent: 'bert', message: sent.message_id, route}, 'tester')
      assert.deepEqual([acked.acknowledged, acked.route, acked.delivery_plane], [true, route, plane])
      assert.equal(readInbox(orchestrator, {agent: 'bert'}, consumer()).unread_count, 0)
    })

  it('are case-insensitive and default to local', async (t) => {
    const {say} = await openWithAgents(t)
    assert.equal(say('x', {route: ' DB '}).route, 'db')
    assert.equal(say('y').route, 'local')
  })

  it('reject unknown words', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {message} = refused('usage', () => orchestrator.say('x', {route: 'pigeon'}))
    assert.match(message, /"pigeon" is not a route\. Expected one of: local, db, mesh\./)
  })
})

describe('an inbox', () => {
  it('merges both planes, most urgent first, then oldest by time', async (t) => {
    const orchestrator = await openWithAgents(t)
    const sendings = [
      ['db', 'low', 'e'],
      ['local', 'normal', 'c'],
      ['db', 'normal', 'd'],
      ['local', 'critical', 'a'],
      ['db', 'high', 'b'],
      ['local', 'low', 'f'],
    ] as const
    for (const [route, priority, payload] of sendings) {
      orchestrator.clock.ms++
      orchestrator.say(payload, {route, priority})
    }
    const inbox = readInbox(orchestrator, {agent: 'bert'}, consumer())
    assert.deepEqual(inbox.messages.map(({payload}) => payload).join(''), 'abcdef')
    assert.deepEqual([inbox.source, inbox.routes, inbox.unread_count], ['merged', ['local', 'db'], 6])
    assert.deepEqual(inbox.delivery_planes, ['local_ephemeral', 'local_durable'])
    const few = readInbox(orchestrator, {agent: 'bert', limit: 2}, consumer())
    assert.deepEqual([few.messages.length, few.unread_count], [2, 6])
    const fewer = readInbox(orchestrator, {agent: 'bert', limit: 9}, consumer('tester', 1))
    assert.equal(fewer.messages.length, 1, 'never more than the consumer takes at once')
  })

  it('includes all claimed messages, regardless of the limit', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (const payload of ['a', 'b']) orchestrator.say(payload, {route: 'db', priority: 'low'})
    for (const payload of ['c', 'd', 'e']) orchestrator.say(payload, {priority: 'high'})
    const {messages, consumer_id} = readInbox(orchestrator, {agent: 'bert', claim: true, limit: 3}, consumer('w'))
    assert.deepEqual(messages.map(({payload}) => payload).join(''), 'cab')
    assert.equal(consumer_id, 'w')
    assert.deepEqual(
      messages.map(({claim_owner}) => claim_owner),
      [undefined, 'w', 'w'],
    )
  })

  it('is paginated newest first for one source', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (const source of ['local', 'db'] as const) {
      for (const payload of ['1', '2', '3']) orchestrator.say(payload, {route: source})
      const pages: string[] = []
      for (let before = 1000; ; ) {
        const {messages} = readInbox(orchestrator, {agent: 'bert', source, before, limit: 2}, consumer())
        const last = messages.at(-1)
        if (last === undefined) break
        pages.push(messages.map(({payload}) => payload).join(''))
        before = last.id
      }
      assert.deepEqual(pages, ['32', '1'])
    }
    refused('usage', () => readInbox(orchestrator, {agent: 'bert', before: 3}, consumer()))
    refused('usage', () => readInbox(orchestrator, {agent: 'bert', source: 'db', before: 3, claim: true}, consumer()))
    refused('usage', () => readInbox(orchestrator, {agent: 'bert', source: 'local', claim: true}, consumer()))
    refused('usage', () => readInbox(orchestrator, {agent: 'bert', source: 'local', dead: true}, consumer()))
    refused('usage', () => readInbox(orchestrator, {agent: 'bert', claim: true, dead: true}, consumer()))
  })
})

describe('a sender', () => {
  it('maps message types of the mesh and treats unknown ones as free_form', async (t) => {
    const {say} = await openWithAgents(t)
    for (const [word, type] of [
      ['help_request', 'help_request'],
      [' Resource_Lock_Grant ', 'resource_lock_grant'],
      ['remote_task_envelope', 'plan_handoff'],
      ['remote_task_ack', 'progress_update'],
      ['remote_task_result', 'completion_notice'],
      ['gossip', 'free_form'],
      ['constructor', 'free_form'],
    ] as const)
      for (const route of ['local', 'db'] as const) assert.equal(say('x', {type: word, route}).msg_type, type)
  })

  it('has its payload delivered unchanged, up to the limit', async (t) => {
    const orchestrator = await openWithAgents(t)
    const payload = `{"text":"${'ü'.repeat(1000)}"}\n\u0007`
    for (const source of ['local', 'db'] as const) {
      orchestrator.say(payload, {route: source})
      assert.equal(readInbox(orchestrator, {agent: 'bert', source}, consumer()).messages[0]?.payload, payload)
    }
    orchestrator.say('x'.repeat(131_072))
    for (const wrong of [{payload: 'x'.repeat(131_073)}, {key: ' '}, {correlationId: 'c'.repeat(513)}, {threadId: ''}])
      refused('message_invalid', () => orchestrator.say('x', wrong))
    refused('usage', () => orchestrator.say('x', {priority: 'urgent'}))
  })

  it('and its receiver must be agents of the workspace, by name or id', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {sender, receiver} = orchestrator.say('x', {sender: 'A-03', receiver: 2})
    assert.deepEqual([sender, receiver], [3, 2])
    for (const wrong of [{sender: 'nobody'}, {receiver: 'bertt'}, {receiver: 9}])
      for (const route of ['local', 'db']) refused('agent_not_found', () => orchestrator.say('x', {...wrong, route}))
    refused('agent_not_found', () => readInbox(orchestrator, {agent: 'nobody'}, consumer()))
    refused('agent_not_found', () => ackHere(orchestrator, {agent: 'nobody', message: 1}, 'tester'))
    assert.deepEqual(readEvents(orchestrator, {types: ['message_sent']}), [])
  })

  it('without a session is not verified, and gets an advisory', async (t) => {
    const {say} = await openWithAgents(t)
    const {sender_identity_binding: binding, binding_advisory: advisory} = say('x', {sessionId: 'whatever'})
    assert.equal(binding, 'unbound')
    assert.match(advisory ?? '', /^anna \(A-01\) has no session, .*\.$/)
  })

  it('with a session must name it, and so must a reader of the inbox of such an agent', async (t) => {
    const orchestrator = await openWithAgents(t)
    giveSession(orchestrator, 'anna', 's-1')
    giveSession(orchestrator, 'bert', 's-2')
    const {sender_identity_binding: binding, binding_advisory: advisory} = orchestrator.say('x', {sessionId: 's-1'})
    assert.deepEqual([binding, advisory], ['verified', null])
    const broadcast = {sender: 'anna', type: 'free_form', payload: 'x'}
    assert.equal(broadcastMessage(orchestrator, {...broadcast, sessionId: 's-1'}).sender_identity_binding, 'verified')
    for (const wrong of [{}, {sessionId: 's-2'}]) {
      const {status} = refused('agent_session_mismatch', () => orchestrator.say('x', wrong))
      assert.equal(status, 403)
      for (const route of ['local', 'db'])
        refused('agent_session_mismatch', () => broadcastMessage(orchestrator, {...broadcast, ...wrong, route}))
    }
    for (const wrong of [{}, {sessionId: 's-1'}]) {
      refused('agent_session_mismatch', () => readInbox(orchestrator, {agent: 'bert', ...wrong}, consumer()))
      refused('agent_session_mismatch', () => ackHere(orchestrator, {agent: 'bert', message: 1, ...wrong}, 'w'))
    }
    const {messages} = readInbox(orchestrator, {agent: 'bert', sessionId: 's-2'}, consumer())
    assert.equal(messages.length, 2, 'rejected messages were not sent')
    const ack = {agent: 'bert', message: messages[0]?.id ?? 0, sessionId: 's-2'}
    assert.equal(ackHere(orchestrator, ack, 'w').acknowledged, true)
  })
})

describe('the history of messages', () => {
  it('lists messages of both planes and all agents, newest first, since a given time', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {clock} = orchestrator
    for (const [i, payload] of ['a', 'b', 'c', 'd'].entries()) {
      clock.ms += 10
      orchestrator.say(payload, {route: i % 2 === 0 ? 'local' : 'db', receiver: i < 2 ? 'bert' : 'carl'})
    }
    const all = messageHistory(orchestrator, {})
    assert.deepEqual(all.messages.map(({payload}) => payload).join(''), 'dcba')
    assert.deepEqual([all.total_messages, all.returned, all.dropped_messages], [4, 4, 0])
    assert.deepEqual(all.delivery_planes, ['local_ephemeral', 'local_durable'])
    const some = messageHistory(orchestrator, {sinceMs: clock.ms - 30, limit: 2})
    assert.deepEqual(some.messages.map(({payload}) => payload).join(''), 'dc')
    assert.deepEqual([some.total_messages, some.returned], [4, 2])
    const durable = messageHistory(orchestrator, {source: 'db'})
    assert.deepEqual([durable.messages.map(({payload}) => payload).join(''), durable.total_messages], ['db', 2])
  })

  for (const {route, order} of [
    {route: 'local', order: 'dcba'},
    // By time, although the clock was set back.
    {route: 'db', order: 'bdac'},
  ] as const)
    it(`lists the messages of an agent or conversation on the route ${route}, in pages`, async (t) => {
      const orchestrator = await openWithAgents(t)
      const {clock} = orchestrator
      for (const [payload, receiver, threadId] of [
        ['a', 'bert', 'x'],
        ['b', 'carl', 'x'],
        ['c', 'bert', 'y'],
        ['d', 'bert', 'x'],
      ] as const) {
        clock.ms += payload === 'c' ? -20 : 10
        orchestrator.say(payload, {route, receiver, threadId})
      }
      const list = (request: HistoryRequest) => {
        const {messages, total_messages: total} = messageHistory(orchestrator, {source: route, ...request})
        return [messages.map(({payload}) => payload).join(''), total]
      }
      const without = (payload: string) => order.replace(payload, '')
      assert.deepEqual(list({}), [order, 4])
      assert.deepEqual(list({agent: 'A-01'}), [order, 4])
      assert.deepEqual(list({agent: 'bert'}), [without('b'), 3])
      assert.deepEqual(list({threadId: 'x'}), [without('c'), 3])
      assert.deepEqual(list({agent: 'carl', threadId: 'y'}), ['', 0])
      const found: Message[] = []
      for (const _ of order) {
        const before = found.at(-1)?.id
        const page = {source: route, limit: 1, ...(before !== undefined && {before})}
        found.push(...messageHistory(orchestrator, page).messages)
      }
      assert.equal(found.map(({payload}) => payload).join(''), order)
    })

  it('contains a broadcast for its sender and each receiver', async (t) => {
    const orchestrator = await openWithAgents(t)
    broadcastMessage(orchestrator, {sender: 'anna', type: 'free_form', payload: 'x'})
    for (const agent of ['anna', 'bert', 'carl'])
      assert.equal(messageHistory(orchestrator, {agent}).total_messages, 1, agent)
  })

  it('rejects a page of several sources, and one before a missing message', async (t) => {
    const orchestrator = await openWithAgents(t)
    refused('usage', () => messageHistory(orchestrator, {before: 1}))
    const {message} = refused('usage', () => messageHistory(orchestrator, {source: 'db', before: 7}))
    assert.match(message, /no message 7/)
    refused('agent_not_found', () => messageHistory(orchestrator, {agent: 'nobody'}))
  })

  it('shows which messages are acknowledged', async (t) => {
    const orchestrator = await openWithAgents(t)
    const local = orchestrator.say('a')
    const durable = orchestrator.say('b', {route: 'db'})
    const acknowledged = () => messageHistory(orchestrator, {}).messages.map((message) => message.acknowledged)
    assert.deepEqual(acknowledged(), [false, false])
    ackHere(orchestrator, {agent: 'bert', message: local.message_id}, 'w')
    ackHere(orchestrator, {agent: 'bert', message: durable.db_message_uuid ?? ''}, 'w')
    assert.deepEqual(acknowledged(), [true, true])
  })

  it('contains only messages of its repository', async (t) => {
    const orchestrator = await openWithAgents(t)
    orchestrator.say('mine', {route: 'db'})
    const other = {...orchestrator, repositoryId: 'another'}
    assert.deepEqual(
      [messageHistory(other, {source: 'db'}).messages, messageHistory(other, {source: 'db'}).total_messages],
      [[], 0],
    )
    assert.throws(() => sendMessage(other, {sender: 1, receiver: 2, type: 'free_form', payload: 'x', route: 'db'}))
  })
})
