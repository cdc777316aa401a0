import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import type {MessageContext} from '../../src/messages/context.js'
import {pruneMessages, readInbox, sweepDeadLetters} from '../../src/messages/index.js'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {scalingTick} from '../../src/scheduler/scaling/tick.js'
import {readEvents, retireAgent} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {type Agents, ackHere, consumer, giveSession, openWithAgents} from './support/agents.js'

const inbox = (context: MessageContext, request: {limit?: number; dead?: boolean} = {}) =>
  readInbox(context, {agent: 'bert', source: 'db', ...request}, consumer())

const claim = (context: MessageContext, owner: string, limit?: number) =>
  readInbox(
    context,
    {agent: 'bert', source: 'db', claim: true, ...(limit === undefined ? {} : {limit})},
    consumer(owner),
  ).messages

const texts = (messages: readonly {payload: string}[]) => messages.map(({payload}) => payload).join('')

const ack = (context: MessageContext, message: string | number, owner = 'w') =>
  ackHere(context, {agent: 'bert', message, route: 'db'}, owner)

const fail = (context: MessageContext, message: number, owner: string, error: string) =>
  ackHere(context, {agent: 'bert', message, route: 'db', error}, owner)

/** A workspace with one durable message for bert, whose id is 1. */
async function withMessage(test: Parameters<typeof openWithAgents>[0]) {
  const orchestrator = await openWithAgents(test)
  const {db_message_uuid} = orchestrator.say('work', {route: 'db'})
  const wait = (ms: number) => {
    orchestrator.clock.ms += ms
  }
  return {orchestrator, uuid: db_message_uuid ?? '', wait}
}

describe('a durable message', () => {
  it('has all members from its sender and emits an event', async (t) => {
    const orchestrator = await openWithAgents(t)
    const {message_id, db_message_uuid, correlation_id, tenant_id, ...sent} = orchestrator.say('{"a":1}', {
      route: 'db',
      type: 'help_request',
      priority: 'high',
      correlationId: 'c-1',
      threadId: 'th-1',
      tenantId: 'te-1',
    })
    assert.match(db_message_uuid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual([message_id, correlation_id, tenant_id, sent.duplicate], [1, 'c-1', 'te-1', false])
    assert.deepEqual([sent.relay_attempted, sent.relay_ok, sent.dropped_messages], [false, false, 0])
    assert.deepEqual(inbox(orchestrator).messages, [
      {
        id: 1,
        uuid: db_message_uuid,
        sender: 1,
        receiver: 2,
        msg_type: 'help_request',
        payload: '{"a":1}',
        priority: 'high',
        timestamp_ms: orchestrator.clock.ms,
        acknowledged: false,
        route: 'db',
        delivery_plane: 'local_durable',
        correlation_id: 'c-1',
        thread_id: 'th-1',
        tenant_id: 'te-1',
        delivery_attempts: 0,
        dead_lettered: false,
      },
    ])
    const [event] = readEvents(orchestrator, {types: ['message_sent']})
    assert.deepEqual(event?.kind, {
      type: 'message_sent',
      agent_id: 2,
      sender_agent_id: 1,
      message_id: 1,
      message_uuid: db_message_uuid,
      msg_type: 'help_request',
    })
  })

  it('survives its process until it is acknowledged', async (t) => {
    const {orchestrator, uuid} = await withMessage(t)
    const next = await openTestOrchestrator(t, {root: orchestrator.root, clock: orchestrator.clock})
    assert.equal(texts(inbox(next).messages), 'work')
    assert.equal(ack(next, uuid.toUpperCase()).acknowledged, true)
    assert.equal(texts(inbox(orchestrator).messages), '')
    assert.equal(inbox(orchestrator).unread_count, 0)
  })

  it('can be read by anyone without being claimed', async (t) => {
    const {orchestrator} = await withMessage(t)
    for (let i = 0; i < 3; i++) assert.equal(inbox(orchestrator).messages[0]?.delivery_attempts, 0)
    assert.equal(claim(orchestrator, 'a')[0]?.delivery_attempts, 1)
    const [seen] = inbox(orchestrator).messages
    assert.deepEqual([seen?.claim_owner, seen?.claim_until_ms], ['a', orchestrator.clock.ms + 120_000])
  })

  it('is acknowledged by uuid or id, for its consumer with the same reply again', async (t) => {
    const {orchestrator, uuid} = await withMessage(t)
    orchestrator.say('more', {route: 'db'})
    const answers = [uuid, 1, 2, '2', uuid].map((reference) => ack(orchestrator, reference))
    assert.deepEqual(
      answers.map(({acknowledged, message_id}) => [acknowledged, message_id]),
      [
        [true, 1],
        [true, 1],
        [true, 2],
        [true, 2],
        [true, 1],
      ],
    )
    assert.equal(answers[0]?.db_message_uuid, uuid)
    assert.equal(ackHere(orchestrator, {agent: 'bert', message: 1, route: 'db'}, 'another').acknowledged, false)
  })

  it('is not visible to another agent, repository or route', async (t) => {
    const {orchestrator, uuid} = await withMessage(t)
    for (const message of [uuid, 1] as const) {
      refused('message_not_found', () => ackHere(orchestrator, {agent: 'carl', message, route: 'db'}, 'w'))
      assert.throws(() => ack({...orchestrator, repositoryId: 'another'}, message))
    }
    refused('message_not_found', () => ackHere(orchestrator, {agent: 'bert', message: 1}, 'w'))
    refused('message_not_found', () => ack(orchestrator, 2))
    refused('message_not_found', () => ack(orchestrator, '00000000-0000-4000-8000-000000000000'))
    assert.equal(inbox(orchestrator).unread_count, 1)
  })

  it('is not sent if the surrounding transaction fails', async (t) => {
    const orchestrator = await openWithAgents(t)
    retireAgent(orchestrator, 'bert')
    refused('agent_not_found', () => orchestrator.say('x', {route: 'db'}))
    assert.deepEqual(orchestrator.store.all('SELECT * FROM a2a_messages'), [])
    assert.deepEqual(readEvents(orchestrator, {types: ['message_sent']}), [])
  })
})

describe('a claiming consumer', () => {
  it('gets the most urgent message first, then the oldest, regardless of the clock', async (t) => {
    const orchestrator = await openWithAgents(t)
    for (const [priority, payload] of [
      ['normal', 'c'],
      ['low', 'f'],
      ['critical', 'a'],
      ['normal', 'd'],
      ['high', 'b'],
      ['normal', 'e'],
    ] as const) {
      orchestrator.say(payload, {route: 'db', priority})
      orchestrator.clock.ms -= 10
    }
    assert.equal(texts(inbox(orchestrator).messages), 'abcdef')
    assert.equal(texts(claim(orchestrator, 'x', 2)), 'ab')
    assert.equal(texts(claim(orchestrator, 'y', 3)), 'cde')
    assert.equal(texts(claim(orchestrator, 'z')), 'f')
    assert.equal(texts(claim(orchestrator, 'z')), 'f')
  })

  it('holds its messages exclusively for two minutes, and repeated claims count once', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    for (let i = 0; i < 30; i++) {
      assert.deepEqual(
        claim(orchestrator, 'first').map(({delivery_attempts: times}) => times),
        [1],
      )
      wait(119_999)
      assert.deepEqual(claim(orchestrator, 'second'), [])
    }
    wait(1)
    const [message] = claim(orchestrator, 'second')
    assert.deepEqual([message?.delivery_attempts, message?.claim_owner], [2, 'second'])
    assert.deepEqual(claim(orchestrator, 'first'), [])
  })

  it('can claim again after expiry, as another delivery', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    claim(orchestrator, 'first')
    wait(120_000)
    assert.equal(claim(orchestrator, 'first')[0]?.delivery_attempts, 2)
  })

  it('can still acknowledge after its claim has expired, until another consumer holds the message', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    claim(orchestrator, 'first')
    wait(120_000)
    claim(orchestrator, 'second')
    refused('message_claim_lost', () => ack(orchestrator, 1, 'first'))
    wait(120_000)
    assert.equal(ack(orchestrator, 1, 'first').acknowledged, true)
    assert.deepEqual(claim(orchestrator, 'second'), [])
  })

  it('takes over the message of another consumer only by force, which is an event', async (t) => {
    const {orchestrator} = await withMessage(t)
    claim(orchestrator, 'alice')
    const request = {agent: 'bert', message: 1, route: 'db'}
    const {exit, message, hint} = refused('message_claim_lost', () => ackHere(orchestrator, request, 'bob'))
    assert.equal(exit, 4)
    assert.match(message, /^alice holds the claim on message .*, not bob\.$/)
    assert.match(hint, /^Leave the message to alice, .* --force`\.$/)
    assert.doesNotMatch(refused('message_claim_lost', () => fail(orchestrator, 1, 'bob', 'broken')).hint, /--force/)
    assert.equal(ackHere(orchestrator, {...request, force: true}, 'bob').acknowledged, true)
    const [event] = readEvents(orchestrator, {types: ['message_claim_overridden']})
    assert.deepEqual(event?.kind, {type: 'message_claim_overridden', message_id: 1, agent_id: 2, owner: 'alice'})
  })

  it('holds a message for a process without a name only while it runs', async (t) => {
    const {orchestrator} = await withMessage(t)
    orchestrator.say('more', {route: 'db'})
    // The largest id of a process on Linux is 2^22.
    claim(orchestrator, 'pid:99999999', 1)
    claim(orchestrator, `pid:${process.pid}`)
    refused('message_claim_lost', () => ack(orchestrator, 2))
    assert.deepEqual(claim(orchestrator, 'other'), [], 'it is not delivered to another consumer earlier')
    assert.equal(ack(orchestrator, 1).acknowledged, true)
    assert.deepEqual(readEvents(orchestrator, {types: ['message_claim_overridden']}), [])
  })

  it('can be acknowledged by another consumer if the clock is set back', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    claim(orchestrator, 'first')
    wait(-1000)
    refused('message_claim_lost', () => ack(orchestrator, 1, 'second'))
    wait(-3_600_000)
    assert.equal(ack(orchestrator, 1, 'second').acknowledged, true)
  })

  it('does not hold a message forever if the clock is set back', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    claim(orchestrator, 'first')
    wait(-1000)
    assert.deepEqual(claim(orchestrator, 'second'), [], 'a small step is none')
    wait(-3_600_000)
    assert.equal(claim(orchestrator, 'second')[0]?.delivery_attempts, 2)
  })

  it('only claims messages for its agent in its repository', async (t) => {
    const {orchestrator} = await withMessage(t)
    orchestrator.say('other', {route: 'db', receiver: 'carl'})
    orchestrator.store.run("UPDATE a2a_messages SET repository_id = 'another' WHERE id = 1")
    assert.deepEqual(claim(orchestrator, 'x'), [])
    assert.equal(inbox(orchestrator).unread_count, 0)
  })
})

/** Delivers a message a number of times, waiting for each claim to expire. */
function deliver(orchestrator: Agents, times: number, owner = 'w'): number {
  let delivered = 0
  for (let i = 0; i < times; i++) {
    delivered += claim(orchestrator, owner).length
    orchestrator.clock.ms += 120_000
  }
  return delivered
}

const deadEvents = (orchestrator: Agents) =>
  readEvents(orchestrator, {types: ['message_dead_lettered']}).map(({kind}) => kind)

describe('a message that cannot be handled', () => {
  it('becomes a dead letter after ten deliveries, listed with a flag and one event', async (t) => {
    const {orchestrator, uuid} = await withMessage(t)
    assert.equal(deliver(orchestrator, 10), 10)
    assert.deepEqual(deadEvents(orchestrator), [])
    assert.equal(deliver(orchestrator, 20), 0)
    const dead = {agent_id: 2, sender_agent_id: 1, message_id: 1, message_uuid: uuid, msg_type: 'free_form'}
    assert.deepEqual(deadEvents(orchestrator), [{type: 'message_dead_lettered', ...dead, delivery_attempts: 10}])

    assert.deepEqual(inbox(orchestrator).messages, [])
    assert.equal(inbox(orchestrator).unread_count, 0)
    const [letter] = inbox(orchestrator, {dead: true}).messages
    assert.deepEqual([letter?.uuid, letter?.dead_lettered, letter?.delivery_attempts], [uuid, true, 10])
    assert.equal(ack(orchestrator, 1).dead_lettered, true)
    assert.deepEqual(inbox(orchestrator, {dead: true}).messages, [])
  })

  it('is not dead during its last delivery and can still be acknowledged', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    deliver(orchestrator, 9)
    claim(orchestrator, 'last')
    wait(119_999)
    assert.equal(inbox(orchestrator).unread_count, 1)
    assert.equal(claim(orchestrator, 'last')[0]?.delivery_attempts, 10)
    assert.equal(ack(orchestrator, 1, 'last').dead_lettered, false)
    wait(1_000_000)
    assert.deepEqual([inbox(orchestrator, {dead: true}).messages, deadEvents(orchestrator)], [[], []])
  })

  for (const [what, look] of [
    ['reading the inbox', (orchestrator: Agents) => inbox(orchestrator)],
    ['a claim of another agent', (o: Agents) => readInbox(o, {agent: 'carl', claim: true}, consumer())],
    ['a sweep', sweepDeadLetters],
  ] as const)
    it(`becomes a dead letter on ${what}`, async (t) => {
      const {orchestrator} = await withMessage(t)
      deliver(orchestrator, 10)
      look(orchestrator)
      assert.equal(deadEvents(orchestrator).length, 1)
      look(orchestrator)
      assert.equal(deadEvents(orchestrator).length, 1)
    })

  it('is delayed when its consumer reports an error, and keeps the reason', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    claim(orchestrator, 'w')
    wait(20_000)
    const failed = fail(orchestrator, 1, 'w', 'the disk is full')
    assert.deepEqual([failed.acknowledged, failed.dead_lettered, failed.message_id], [false, false, 1])
    assert.deepEqual(fail(orchestrator, 1, 'w', 'the disk is full'), failed, 'the first reply was lost')
    const [message] = inbox(orchestrator).messages
    assert.deepEqual([message?.last_claim_error, message?.claim_owner], ['the disk is full', undefined])
    for (const owner of ['w', 'other']) assert.deepEqual(claim(orchestrator, owner), [], 'it rests')
    wait(100_000)
    assert.equal(claim(orchestrator, 'w')[0]?.delivery_attempts, 2)
  })

  it('becomes a dead letter immediately on its tenth failure', async (t) => {
    const {orchestrator} = await withMessage(t)
    deliver(orchestrator, 9)
    claim(orchestrator, 'w')
    assert.equal(fail(orchestrator, 1, 'w', 'no such file').dead_lettered, true)
    const [event] = deadEvents(orchestrator)
    assert.equal(event?.type === 'message_dead_lettered' && event.error, 'no such file')
    assert.equal(inbox(orchestrator, {dead: true}).messages[0]?.last_claim_error, 'no such file')
  })

  it('cannot be failed by a consumer without its claim', async (t) => {
    const {orchestrator, wait} = await withMessage(t)
    const giveUp = (owner: string) => refused('message_claim_lost', () => fail(orchestrator, 1, owner, 'broken'))
    giveUp('w')
    claim(orchestrator, 'first')
    giveUp('w')
    wait(120_000)
    giveUp('first')
    claim(orchestrator, 'second')
    giveUp('first')
    ack(orchestrator, 1, 'second')
    giveUp('second')
    refused('message_not_found', () => fail(orchestrator, 2, 'w', 'broken'))
    assert.equal(orchestrator.store.get<{e: null}>('SELECT last_claim_error AS e FROM a2a_messages')?.e, null)
  })

  it('does not block other messages', async (t) => {
    const {orchestrator} = await withMessage(t)
    deliver(orchestrator, 10)
    orchestrator.say('next', {route: 'db', priority: 'low'})
    assert.equal(texts(claim(orchestrator, 'w', 1)), 'next')
  })
})

describe('messages to a retired agent', () => {
  it('become dead letters, claimed or not, and are not inherited by a new agent of the name', async (t) => {
    const {orchestrator} = await withMessage(t)
    orchestrator.say('read', {route: 'db', key: 'read'})
    ack(orchestrator, 2)
    orchestrator.say('claimed', {route: 'db', priority: 'high'})
    claim(orchestrator, 'w', 1)
    orchestrator.say('for carl', {route: 'db', receiver: 'carl'})
    retireAgent(orchestrator, 'bert')
    assert.deepEqual(
      deadEvents(orchestrator).map((event) =>
        event.type === 'message_dead_lettered' ? [event.message_id, event.delivery_attempts, event.error] : event,
      ),
      [
        [3, 1, 'its agent is retired'],
        [1, 0, 'its agent is retired'],
      ],
    )
    for (const {kind, ...event} of readEvents(orchestrator, {types: ['message_dead_lettered']}))
      assert.deepEqual(await contractViolations('orchestration/event.v1', {...event, kind}), [])
    spawnAgent(orchestrator, {name: 'bert'})
    assert.equal(inbox(orchestrator).unread_count, 0)
    assert.deepEqual(inbox(orchestrator, {dead: true}).messages, [])
    assert.equal(readInbox(orchestrator, {agent: 'carl', source: 'db'}, consumer()).unread_count, 1)
  })

  for (const id of [2, '2', 'A-02', 'a-2'])
    it(`can be read and acknowledged by its id ${JSON.stringify(id)} although its name is reused`, async (t) => {
      const {orchestrator, uuid} = await withMessage(t)
      retireAgent(orchestrator, 'bert')
      spawnAgent(orchestrator, {name: 'bert'})
      const dead = () => readInbox(orchestrator, {agent: id, source: 'db', dead: true}, consumer()).messages
      assert.deepEqual(
        dead().map((message) => [message.uuid, message.dead_lettered, message.last_claim_error]),
        [[uuid, true, 'its agent is retired']],
      )
      assert.equal(ackHere(orchestrator, {agent: id, message: uuid}, 'w').acknowledged, true)
      assert.deepEqual(dead(), [])
    })

  it('require its id and its session', async (t) => {
    const {orchestrator} = await withMessage(t)
    giveSession(orchestrator, 'bert', 's')
    retireAgent(orchestrator, 'bert')
    const read = (agent: string | number, sessionId?: string) =>
      readInbox(
        orchestrator,
        {agent, source: 'db', dead: true, ...(sessionId === undefined ? {} : {sessionId})},
        consumer(),
      )
    refused('agent_not_found', () => read('bert'))
    refused('agent_not_found', () => read(9))
    refused('agent_session_mismatch', () => read(2))
    assert.equal(read(2, 's').messages.length, 1)
    spawnAgent(orchestrator, {name: '2'})
    assert.deepEqual(read('2').messages, [])
    refused('agent_not_found', () => readInbox({...orchestrator, repositoryId: 'another'}, {agent: 2}, consumer()))
  })

  it('can no longer be sent', async (t) => {
    const {orchestrator} = await withMessage(t)
    retireAgent(orchestrator, 'bert')
    refused('agent_not_found', () => orchestrator.say('late', {route: 'db', receiver: 2}))
  })

  it('become dead letters even if scaling retires it', async (t) => {
    const orchestrator = await openWithAgents(t, {toml: '[orchestrator]\nscaling_enabled = true\n'})
    orchestrator.store.run("UPDATE orch_agents SET kind = 'dynamic' WHERE name = 'bert'")
    orchestrator.say('work', {route: 'db'})
    orchestrator.clock.ms += 86_400_000
    assert.deepEqual(scalingTick(orchestrator, {cpu: 0, memory: 0}).retired, ['bert'])
    assert.equal(readInbox(orchestrator, {agent: 2, dead: true}, consumer()).messages.length, 1)
    assert.equal(deadEvents(orchestrator).length, 1)
  })

  it('stay unread if it cannot be retired', async (t) => {
    const {orchestrator} = await withMessage(t)
    for (const name of ['anna', 'carl']) retireAgent(orchestrator, name)
    submit(orchestrator, {target_agent: 'bert'})
    refused('last_agent', () => retireAgent(orchestrator, 'bert'))
    assert.equal(inbox(orchestrator).unread_count, 1)
    assert.deepEqual(deadEvents(orchestrator), [])
  })
})

describe('acknowledged messages', () => {
  it('are deleted after the retention; others stay', async (t) => {
    const orchestrator = await openWithAgents(t)
    const day = 86_400_000
    for (const payload of ['old', 'young', 'unread']) orchestrator.say(payload, {route: 'db', key: payload})
    ack(orchestrator, 1)
    orchestrator.clock.ms += 5 * day
    ack(orchestrator, 2)
    orchestrator.clock.ms += 2 * day
    assert.equal(pruneMessages(orchestrator), 0)
    orchestrator.clock.ms++
    assert.equal(pruneMessages({...orchestrator, repositoryId: 'another'}), 0)
    assert.equal(pruneMessages(orchestrator), 1)
    assert.equal(pruneMessages(orchestrator, 1), 1)
    orchestrator.clock.ms += 1000 * day
    assert.equal(pruneMessages(orchestrator), 0)
    assert.equal(texts(inbox(orchestrator).messages), 'unread')
    assert.equal(orchestrator.say('old', {route: 'db', key: 'old'}).duplicate, false, 'its key is free')
  })
})
