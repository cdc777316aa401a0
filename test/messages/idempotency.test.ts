import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {fnv1a64} from '../../src/messages/idempotency-key.js'
import {readInbox} from '../../src/messages/index.js'
import {refused} from '../orchestrator/support/open-test-orchestrator.js'
import {type Agents, ackHere, consumer, openWithAgents} from './support/agents.js'

describe('FNV-1a, 64 bits', () => {
  // Test vectors of the reference implementation, http://www.isthe.com/chongo/tech/comp/fnv/.
  for (const [text, hash] of [
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['b', 'af63df4c8601f1a5'],
    ['foobar', '85944171f73967e8'],
  ] as const)
    it(`of ${JSON.stringify(text)} is ${hash}`, () => assert.equal(fnv1a64(text), hash))

  it('always has 16 digits and hashes UTF-8 bytes', () => {
    for (let i = 0; i < 2000; i++) assert.match(fnv1a64(String(i)), /^[0-9a-f]{16}$/)
    assert.equal(fnv1a64('ü'), fnv1a64(Buffer.from([0xc3, 0xbc]).toString()))
    assert.notEqual(fnv1a64('ü'), fnv1a64('u'))
  })
})

for (const route of ['local', 'db'] as const) {
  const unread = (orchestrator: Agents) =>
    readInbox(orchestrator, {agent: 'bert', source: route}, consumer()).messages.map(({payload}) => payload)

  describe(`a message sent again by the route ${route}`, () => {
    it('is the first one with the same key', async (t) => {
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

    it('uses its correlation id as default key', async (t) => {
      const {say} = await openWithAgents(t)
      const sent = say('x', {route, correlationId: 'c-1'})
      assert.deepEqual([sent.idempotency_key, sent.correlation_id], ['c-1', 'c-1'])
      assert.equal(say('x', {route, correlationId: 'c-1'}).duplicate, true)
      assert.equal(say('x', {route, correlationId: 'c-1', key: 'k'}).duplicate, false)
    })

    it('is rejected with the same key and different content', async (t) => {
      const orchestrator = await openWithAgents(t)
      orchestrator.say('one', {route, key: 'k'})
      for (const other of [{payload: 'two'}, {type: 'help_request'}]) {
        const error = refused('message_key_conflict', () => orchestrator.say('one', {route, key: 'k', ...other}))
        assert.deepEqual([error.exit, error.status, error.params.key], [4, 409, 'k'])
      }
      assert.deepEqual(unread(orchestrator), ['one'])
    })

    it('is a new one with the key of another sender or receiver', async (t) => {
      const {say} = await openWithAgents(t)
      say('x', {route, key: 'k'})
      for (const other of [{receiver: 'carl'}, {sender: 'carl'}])
        assert.equal(say('x', {route, key: 'k', ...other}).duplicate, false)
    })

    it('is the first one without a key for a minute while that is unread', async (t) => {
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
