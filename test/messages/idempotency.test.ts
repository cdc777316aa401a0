import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {fnv1a64} from '../../src/messages/idempotency-key.js'
import {readInbox} from '../../src/messages/index.js'
import {refused} from '../orchestrator/support/open-test-orchestrator.js'
import {type Agents, ackHere, consumer, openWithAgents} from './support/agents.js'

describe('FNV-1a, 64 bits', () => {
  // Vectors of the reference implementation, http://www.isthe.com/chongo/tech/comp/fnv/.
  for (const [text, hash] of [
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['b', 'af63df4c8601f1a5'],
    ['foobar', '85944171f73967e8'],
  ] as const)
    it(`of ${JSON.stringify(text)} is ${hash}`, () => assert.equal(fnv1a64(text), hash))

  it('has 16 digits always, and reads bytes of UTF-8', () => {
    for (let i = 0; i < 2000; i++) assert.match(fnv1a64(String(i)), /^[0-9a-f]{16}$/)
    assert.equal(fnv1a64('ü'), fnv1a64(Buffer.from([0xc3, 0xbc]).toString()))
    assert.notEqual(fnv1a64('ü'), fnv1a64('u'))
  })
})

for (const route of ['local', 'db'] as const) {
  const unread = (orchestrator: Agents) =>
    readInbox(orchestrator, {agent: 'bert', source: route}, consumer()).messages.map(({payload}) => payload)

  describe(`a message by the route ${route} that is sent again`, () => {
    it('under a key of its own is the first one', async (t) => {
      const orchestrator = await openWithAgents(t)
      const send = () => orchestrator.say('once', {route, key: 'k-1'})
      const first = send()
      const second = send()
      assert.deepEqual([first.duplicate, second.duplicate, second.idempotency_key], [false, true, 'k-1'])
      assert.deepEqual([second.message_id, second.db_message_uuid], [first.message_id, first.db_message_uuid])
      assert.deepEqual(unread(orchestrator), ['once'])
      ackHere(orchestrator, {agent: 'bert', message: first.message_id, route}, 'w')
      orchestrator.clock.ms += 200_000
      assert.equal(send().duplicate, true, 'also when it has been read long ago')
      assert.deepEqual(unread(orchestrator), [])
    })

    it('takes its correlation id for its key, where it names none', async (t) => {
      const {say} = await openWithAgents(t)
      const sent = say('x', {route, correlationId: 'c-1'})
      assert.deepEqual([sent.idempotency_key, sent.correlation_id], ['c-1', 'c-1'])
      assert.equal(say('x', {route, correlationId: 'c-1'}).duplicate, true)
      assert.equal(say('x', {route, correlationId: 'c-1', key: 'k'}).duplicate, false)
    })

    it('and says something else under the key is refused, and nothing changes', async (t) => {
      const orchestrator = await openWithAgents(t)
      orchestrator.say('one', {route, key: 'k'})
      for (const other of [{payload: 'two'}, {type: 'help_request'}]) {
        const error = refused('message_key_conflict', () => orchestrator.say('one', {route, key: 'k', ...other}))
        assert.deepEqual([error.exit, error.status, error.params.key], [4, 409, 'k'])
      }
      assert.deepEqual(unread(orchestrator), ['one'])
    })

    it('under the key of others, or to others, is one of its own', async (t) => {
      const {say} = await openWithAgents(t)
      say('x', {route, key: 'k'})
      for (const other of [{receiver: 'carl'}, {sender: 'carl'}])
        assert.equal(say('x', {route, key: 'k', ...other}).duplicate, false)
    })

    it('without a key counts as the first for a minute, as long as that one is unread', async (t) => {
      const orchestrator = await openWithAgents(t)
      const send = (payload = 'go on') => orchestrator.say(payload, {route})
      const first = send()
      assert.equal(first.idempotency_key, `mcp-a2a-1-2-${fnv1a64('free_formgo on')}`)
      assert.deepEqual([send().duplicate, send('other').duplicate], [true, false])
      orchestrator.clock.ms += 59_999
      const repeated = send()
      assert.deepEqual([repeated.duplicate, repeated.message_id], [true, first.message_id])
      orchestrator.clock.ms += 1
      const second = send()
      assert.deepEqual([second.duplicate, second.idempotency_key], [false, first.idempotency_key])
      assert.notEqual(second.message_id, first.message_id)
      assert.equal(send().message_id, second.message_id)
      ackHere(orchestrator, {agent: 'bert', message: second.message_id, route}, 'w')
      assert.equal(send().duplicate, false, 'the receiver has dealt with the first one')
      assert.deepEqual(unread(orchestrator), ['go on', 'other', 'go on'])
    })
  })
}
