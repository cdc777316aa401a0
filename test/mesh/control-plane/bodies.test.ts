import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {readMaintenance} from '../../../src/mesh/protocol/admin-body.js'
import {readGrant} from '../../../src/mesh/protocol/lease-body.js'
import {readDeliver, readInbox} from '../../../src/mesh/protocol/message-body.js'
import {readHeartbeat, readJoin} from '../../../src/mesh/protocol/node-body.js'
import {cursorOf, readNodeQuery} from '../../../src/mesh/protocol/node-query.js'
import {message, record} from './support/samples.js'

/** Matcher for `assert.throws`: the field and the expected value in the error. */
const fault = (field: string, expected: RegExp) => (error: unknown) => {
  assert.ok(isErrorOf(error, 'missing_field'), String(error))
  assert.equal(error.params.field, field)
  assert.match(error.params.expected, expected)
  return true
}

describe('node body', () => {
  it('separates the facts of a node from other members', () => {
    const body = {
      ...record('n-1'),
      scope_id: 's',
      incarnation: 7,
      seq: 0,
      maintenance: true,
      maintenance_until_unix_ms: 5,
      quarantined: true,
      trust_tier: 'trusted',
      joined_at: 1,
    }
    const {facts, ...rest} = readJoin(body)
    assert.deepEqual(Object.keys(facts).sort(), ['capabilities', 'id', 'version'])
    assert.deepEqual(rest, {scope: 's', incarnation: 7, seq: 0, maintenance: {on: true, untilMs: 5}})
  })

  it('drops null and blank members and trims names', () => {
    const {facts, scope} = readJoin({...record(' n-1 '), pool_id: null, provider: '  ', scope_id: ' s ', labels: null})
    assert.deepEqual([facts.id, 'pool_id' in facts, 'provider' in facts, scope], ['n-1', false, false, 's'])
  })

  it('does not read inherited members', () => {
    const body = JSON.parse('{"id":"n","version":"1","capabilities":{"__proto__":{"npu":true}},"__proto__":{"x":1}}')
    assert.deepEqual(readJoin(body).facts, {id: 'n', version: '1', capabilities: {}})
    assert.throws(() => readHeartbeat(JSON.parse('{"__proto__":{"id":"n"}}')), fault('id', /string/))
  })

  for (const [capabilities, isEligible] of [
    [{visual_eligible: true}, true],
    [{visus_eligible: true}, true],
    [{visus_eligible: false}, false],
    [{visual_eligible: null, visus_eligible: true}, true],
    [{visual_eligible: false, visus_eligible: true}, false],
    [{visual_eligible: true, visus_eligible: false}, true],
  ] as const)
    it(`has both spellings of visual_eligible, ${isEligible}, for ${JSON.stringify(capabilities)}`, () => {
      const expected = {visual_eligible: isEligible, visus_eligible: isEligible}
      assert.deepEqual(readJoin({...record('n-1'), capabilities}).facts.capabilities, expected)
      assert.deepEqual(readHeartbeat({id: 'n-1', capabilities}).facts.capabilities, expected)
    })

  it('has no spelling of visual_eligible if the node reports none', () => {
    assert.deepEqual(readHeartbeat({id: 'n-1', capabilities: {npu: true}}).facts.capabilities, {npu: true})
  })

  it('is full with version and capabilities', () => {
    for (const [body, isFull] of [
      [{id: 'n', version: '1', capabilities: {}}, true],
      [{id: 'n', version: '1'}, false],
      [{id: 'n', capabilities: {npu: true}}, false],
      [{id: 'n'}, false],
    ] as const)
      assert.equal(readHeartbeat(body).isFull, isFull)
  })

  for (const [members, field, expected] of [
    [{id: ''}, 'id', /string of up to 256/],
    [{id: 'a\nb'}, 'id', /on one line/],
    [{id: '\u001b[31mred'}, 'id', /on one line/],
    [{id: 'x'.repeat(257)}, 'id', /256/],
    [{capabilities: []}, 'capabilities', /an object/],
    [{capabilities: {cpu_cores: 1.5}}, 'capabilities.cpu_cores', /integer from 0 to 4294967295/],
    [{capabilities: {npu: 'yes'}}, 'capabilities.npu', /true or false/],
    [{capabilities: {visus_eligible: 1}}, 'capabilities.visus_eligible', /true or false/],
    [{capabilities: {labels: 'a,b'}}, 'capabilities.labels', /a list of up to 256/],
    [{cpu_usage_pct: -1}, 'cpu_usage_pct', /a number from 0 to 100/],
    [{memory_free_bytes: 2 ** 53}, 'memory_free_bytes', /an integer of at least 0$/],
    [{visibility: 'all'}, 'visibility', /one of private, public, hybrid/],
    [{advertised_models: [{name: 'x'.repeat(5000)}]}, 'advertised_models', /4096 characters of JSON/],
    [{seq: '1'}, 'seq', /an integer/],
  ] as const)
    it(`rejects ${field} ${JSON.stringify(Object.values(members)[0]).slice(0, 30)}`, () => {
      assert.throws(() => readJoin({...record('n-1'), ...members}), fault(field, expected))
    })
})

describe('message body', () => {
  it('defaults the priority to 128 and normalises agent ids', () => {
    const {draft} = readDeliver(message({sender_agent_id: ' 007 ', receiver_agent_id: '18446744073709551615'}))
    assert.deepEqual(
      [draft.priority, draft.sender_agent_id, draft.receiver_agent_id],
      [128, '7', '18446744073709551615'],
    )
  })

  it('keeps the payload unchanged, even if blank', () => {
    for (const payload of ['', '  ', '\u0000', '{"a": 1}\n'])
      assert.equal(readDeliver(message({payload})).draft.payload, payload)
  })

  it('treats a blank key as missing', () => {
    assert.equal('idempotency_key' in readDeliver(message({idempotency_key: '  '})).draft, false)
    assert.equal(readDeliver(message({idempotency_key: ' k '})).draft.idempotency_key, 'k')
  })

  for (const wrong of ['bad', '', '   ', '-1', '1.5', '0x1', '1e3', '18446744073709551616', '9'.repeat(500), 5, {}, []])
    it(`rejects the agent id ${JSON.stringify(wrong).slice(0, 30)}`, () => {
      assert.throws(
        () => readDeliver(message({receiver_agent_id: wrong})),
        (error) => isErrorOf(error, 'invalid_agent_id') && error.params.field === 'receiver_agent_id',
      )
    })
})

describe('strings with lone surrogates', () => {
  const half = '\ud800'
  for (const [field, read] of [
    ['id', () => readJoin(record(`n-${half}`))],
    ['id', () => readHeartbeat({id: `${half}n`})],
    ['capabilities.labels', () => readJoin(record('n', {capabilities: {labels: [`a=${half}`]}}))],
    ['advertised_models', () => readJoin(record('n', {advertised_models: [{name: `\\${half}`}]}))],
    ['advertised_models', () => readJoin(record('n', {advertised_models: [{[half]: 1}]}))],
    ['payload', () => readDeliver(message({payload: `"${half}"`}))],
    ['idempotency_key', () => readDeliver(message({idempotency_key: `k${half}`}))],
    ['message_type', () => readDeliver(message({message_type: `${half}\ud800\udc00`}))],
    ['scope_key', () => readGrant({scope_key: `task:${half}`, claimer_node_id: 'n'})],
  ] as const)
    it(`are rejected in ${field}`, () => assert.throws(read, fault(field, /./)))

  it('are distinguished from pairs and escaped surrogates', () => {
    assert.equal(readJoin(record('n-𝔫')).facts.id, 'n-𝔫')
    assert.equal(readDeliver(message({payload: '𝔫\\ud800'})).draft.payload, '𝔫\\ud800')
    const models = [{name: '\\ud800', 𝔫: '\\\\ud800\u001f'}]
    assert.deepEqual(readJoin(record('n', {advertised_models: models})).facts.advertised_models, models)
  })

  for (const character of ['\0', '\n', '\u001b', '\u0085'])
    it(`and names with ${JSON.stringify(character)} are rejected`, () => {
      const name = `a${character}b`
      assert.throws(() => readGrant({scope_key: name, claimer_node_id: 'n'}), fault('scope_key', /one line/))
      assert.throws(() => readGrant({scope_key: 'k', claimer_node_id: name}), fault('claimer_node_id', /one line/))
      assert.throws(() => readDeliver(message({idempotency_key: name})), fault('idempotency_key', /one line/))
    })
})

describe('inbox body', () => {
  const read = (more: object) => readInbox({receiver_agent_id: '2', ...more})

  for (const [asked, limit] of [
    [undefined, 64],
    [0, 1],
    [1, 1],
    [256, 256],
    [257, 256],
  ] as const)
    it(`limits max_messages ${asked} to ${limit}`, () => assert.equal(read({max_messages: asked}).limit, limit))

  it('limits the wait to 30 s', () => {
    assert.deepEqual([read({}).waitMs, read({wait_ms: 30_001}).waitMs], [0, 30_000])
  })

  it('can exclude up to 256 messages', () => {
    assert.equal(read({exclude_message_ids: Array(256).fill(1)}).exclude?.length, 256)
    assert.throws(() => read({exclude_message_ids: Array(257).fill(1)}), fault('exclude_message_ids', /up to 256/))
  })

  it('accepts all types if the list is empty', () => assert.equal(read({message_types: []}).types, undefined))
})

describe('lease body', () => {
  it('limits the key in bytes, not characters', () => {
    const grant = (key: string) => readGrant({scope_key: key, claimer_node_id: 'n'}).scope_key
    assert.equal(grant(` ${'x'.repeat(2048)} `).length, 2048)
    assert.throws(
      () => grant('ü'.repeat(1025)),
      (error) => isErrorOf(error, 'scope_key_too_long'),
    )
  })
})

describe('maintenance body', () => {
  it('requires the maintenance flag', () => {
    assert.deepEqual(readMaintenance({node_id: 'n', maintenance: false}), {node_id: 'n', maintenance: false})
    assert.throws(() => readMaintenance({node_id: 'n'}), fault('maintenance', /true or false/))
  })
})

describe('list query', () => {
  it('accepts a cursor after any node id', () => {
    for (const node of ['n-1', 'ünï/cödé?&=', '𝔫', '-'])
      assert.equal(readNodeQuery({cursor: cursorOf(node)}).after, node)
  })

  it('defaults to the maximum page size', () => {
    const query = readNodeQuery({limit: '0', labels: ['a=1,b', 'c']})
    assert.deepEqual([readNodeQuery({}).limit, query.limit, query.labels], [5000, 1, ['a=1', 'b', 'c']])
  })
})
