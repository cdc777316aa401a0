import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MessageContext} from '../../src/messages/context.js'
import {broadcastMessage, messageHistory, readInbox} from '../../src/messages/index.js'
import {refused} from '../orchestrator/support/open-test-orchestrator.js'
import {ackHere, consumer, openWithAgents} from './support/agents.js'

const local = (orchestrator: MessageContext, agent: string) =>
  readInbox(orchestrator, {agent, source: 'local'}, consumer('tester', 2048))

const payloads = (orchestrator: MessageContext, agent: string) =>
  local(orchestrator, agent).messages.map(({payload}) => payload)

describe('an in-memory inbox', () => {
  it('returns the most urgent messages first, then the oldest, regardless of the clock', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (const [priority, payload] of [
      ['low', 'f'],
      ['normal', 'd'],
      ['critical', 'a'],
      ['normal', 'e'],
      ['high', 'b'],
      ['high', 'c'],
    ] as const) {
      orchestrator.say(payload, {priority})
      orchestrator.clock.ms -= 10
    }
    assert.equal(payloads(orchestrator, 'bert').join(''), 'abcdef')
    const {messages} = local(orchestrator, 'bert')
    assert.equal(messages[0]?.display_id, 'M-000003')
    assert.equal(messages[0]?.id, 3)
  })

  it('keeps a read message until it is acknowledged', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {message_id: id} = orchestrator.say('hello')
    for (let i = 0; i < 3; i++) assert.deepEqual(payloads(orchestrator, 'bert'), ['hello'])
    assert.equal(id, 1)
    const ack = () => ackHere(orchestrator, {agent: 'bert', message: 'm-000001'}, 'tester')
    assert.deepEqual(
      [ack(), ack()].map(({acknowledged, local_acknowledged, message_id}) => [
        acknowledged,
        local_acknowledged,
        message_id,
      ]),
      [
        [true, true, 1],
        [true, true, 1],
      ],
    )
    assert.deepEqual(payloads(orchestrator, 'bert'), [])
  })

  it('does not return messages of other inboxes or unknown messages', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {message_id: message} = orchestrator.say('hello')
    for (const wrong of [
      {agent: 'carl', message},
      {agent: 'bert', message: 2},
      {agent: 'bert', message: 'M-000002'},
    ]) {
      const error = refused('message_not_found', () => ackHere(orchestrator, wrong, 'tester'))
      assert.deepEqual([error.exit, error.status, error.params.message], [3, 404, error.params.message])
    }
    for (const wrong of ['0', 'x', '-1', '1.5', ''])
      refused('usage', () => ackHere(orchestrator, {agent: 'bert', message: wrong}, 'tester'))
    refused('usage', () => ackHere(orchestrator, {agent: 'bert', message, error: 'broken'}, 'tester'))
    assert.deepEqual(payloads(orchestrator, 'bert'), ['hello'])
  })

  it('drops a message after five minutes', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {message_id: message} = orchestrator.say('old')
    orchestrator.clock.ms += 1000
    orchestrator.say('young')
    orchestrator.clock.ms += 298_999
    assert.deepEqual(payloads(orchestrator, 'bert'), ['old', 'young'])
    orchestrator.clock.ms += 1
    assert.deepEqual(payloads(orchestrator, 'bert'), ['young'])
    refused('message_not_found', () => ackHere(orchestrator, {agent: 'bert', message}, 'tester'))
    assert.equal(local(orchestrator, 'bert').dropped_messages, 0)
  })

  it('holds a hundred messages, then drops and counts the oldest', async (t) => {
    const orchestrator = await openWithAgents(t)
    const dropped = Array.from({length: 103}, (_, i) => orchestrator.say(String(i)).dropped_messages)
    assert.deepEqual(dropped, [...Array(100).fill(0), 1, 1, 1])
    const remaining = payloads(orchestrator, 'bert')
    assert.deepEqual([remaining.length, remaining[0], remaining.at(-1)], [100, '3', '102'])
    orchestrator.say('x', {receiver: 'carl'})
    assert.equal(local(orchestrator, 'bert').dropped_messages, 3)
    assert.equal(local(orchestrator, 'carl').dropped_messages, 0)
    assert.equal(messageHistory(orchestrator, {}).dropped_messages, 3)
  })

  it('drops acknowledged and expired messages before unread ones when it is full', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (let i = 0; i < 100; i++) orchestrator.say(String(i))
    ackHere(orchestrator, {agent: 'bert', message: 50}, 'tester')
    assert.equal(orchestrator.say('more').dropped_messages, 0)
    assert.equal(payloads(orchestrator, 'bert').length, 100)
    orchestrator.clock.ms += 300_000
    assert.equal(orchestrator.say('later').dropped_messages, 0)
    assert.deepEqual(payloads(orchestrator, 'bert'), ['later'])
  })

  it('shares a limit of 1024 messages with all others', async (t) => {
    const {bus, ...orchestrator} = await openWithAgents(t)
    const draft = {sender: 1, type: 'free_form', priority: 'normal'} as const
    const send = (receiver: number, i: number) =>
      bus.send({...draft, payload: String(i)}, receiver, {text: `${receiver}-${i}`, isGiven: true})
    for (let receiver = 10; receiver < 21; receiver++) for (let i = 0; i < 93; i++) send(receiver, i)
    assert.equal(bus.unread(10).length, 93, '1023 are there')
    assert.equal(send(30, 0).dropped, 0)
    assert.equal(send(30, 1).dropped, 1)
    assert.deepEqual([bus.unread(10).length, bus.unread(10)[0]?.payload, bus.dropped(10)], [92, '1', 1])
    assert.equal(messageHistory({...orchestrator, bus}, {source: 'local', limit: 2000}).returned, 1024)
  })
})

describe('the capacities of the bus', () => {
  const draft = {sender: 1, type: 'free_form', priority: 'normal'} as const

  it('apply to later messages after a reload', async (t) => {
    const {bus, live} = await openWithAgents(t)
    const resize = (capacity: number) => {
      const {config} = live.current
      live.current = {...live.current, config: {...config, eventBusCapacity: capacity}}
    }
    const broadcast = (count: number) => {
      for (let i = 0; i < count; i++) bus.broadcast({...draft, payload: String(i)}, [2])
    }
    broadcast(5)
    assert.deepEqual([bus.dropped(), bus.history({sinceMs: 0, limit: 10}).messages.length], [0, 5])
    resize(2)
    broadcast(1)
    assert.deepEqual([bus.dropped(), bus.history({sinceMs: 0, limit: 10}).messages.length], [4, 2])
    resize(3)
    broadcast(2)
    assert.deepEqual([bus.dropped(), bus.history({sinceMs: 0, limit: 10}).messages.length], [5, 3])
  })
})

describe('a broadcast', () => {
  it('reaches every agent except its sender and is acknowledged by each separately', async (t) => {
    const orchestrator = await openWithAgents(t)
    const sent = broadcastMessage(orchestrator, {sender: 'anna', type: 'broadcast_news', payload: 'released'})
    assert.deepEqual(
      [sent.delivered_to, sent.dropped_messages, sent.route, sent.delivery_plane],
      [2, 0, 'local', 'broadcast'],
    )
    assert.deepEqual(payloads(orchestrator, 'anna'), [])
    const [message] = local(orchestrator, 'bert').messages
    assert.deepEqual(
      [message?.receiver, message?.delivery_plane, message?.route, message?.msg_type],
      [null, 'broadcast', 'local', 'broadcast_news'],
    )
    const acked = ackHere(orchestrator, {agent: 'bert', message: sent.message_ids[0] ?? 0}, 'tester')
    assert.deepEqual([acked.acknowledged, acked.delivery_plane], [true, 'broadcast'])
    assert.deepEqual(payloads(orchestrator, 'carl'), ['released'])
    assert.equal(messageHistory(orchestrator, {}).messages[0]?.acknowledged, false)
    ackHere(orchestrator, {agent: 'carl', message: sent.message_ids[0] ?? 0}, 'tester')
    assert.equal(messageHistory(orchestrator, {}).messages[0]?.acknowledged, true)
  })

  it('is sent again even with the same content', async (t) => {
    const orchestrator = await openWithAgents(t)
    const news = () => broadcastMessage(orchestrator, {sender: 'anna', type: 'free_form', payload: 'again'})
    assert.notEqual(news().message_id, news().message_id)
    assert.deepEqual(payloads(orchestrator, 'bert'), ['again', 'again'])
  })

  it('reports how many unread messages were dropped', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (let i = 0; i < 100; i++) orchestrator.say(String(i))
    const sent = broadcastMessage(orchestrator, {sender: 'carl', type: 'free_form', payload: 'x'})
    assert.deepEqual([sent.delivered_to, sent.dropped_messages], [2, 1])
  })
})
