import assert from 'node:assert/strict'
import {request} from 'node:http'
import {describe, it, type TestContext} from 'node:test'
import {maxWaitMs} from '../../../src/mesh/protocol/message-body.js'
import {ask} from './support/ask.js'
import {type Plane, type PlaneOptions, startPlane, waiting} from './support/control-plane.js'
import {message, record} from './support/samples.js'

/** Long before a request that waits comes back by itself, and later than any machine answers, ms. */
const soonMs = maxWaitMs / 2

/** A control plane with two nodes. */
async function planeOfTwo(t: TestContext, options: PlaneOptions = {}): Promise<Plane> {
  const plane = await startPlane(t, options)
  for (const id of ['n-1', 'n-2']) await ask(plane, 'POST', '/v1/mesh/join', {body: record(id)})
  return plane
}

const inbox = (plane: Plane, body: object) =>
  ask(plane, 'POST', '/v1/mesh/a2a/inbox', {body: {receiver_agent_id: '2', ...body}})
const deliver = (plane: Plane, more: object = {}) => ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message(more)})

describe('an inbox that is waited for', () => {
  it('answers a node that claims as soon as a message comes', async (t) => {
    const plane = await planeOfTwo(t)
    const poll = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs})
    await waiting(plane, 1)
    const {body: delivered} = await deliver(plane)
    const {body} = await poll
    assert.equal(body.messages[0].id, delivered.message_id)
    assert.equal(body.messages[0].lease_holder_node_id, 'n-1')
  })

  it('answers who looks, and leaves the message to who claims', async (t) => {
    const plane = await planeOfTwo(t)
    const look = inbox(plane, {wait_ms: maxWaitMs})
    const claim = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs})
    await waiting(plane, 2)
    await deliver(plane)
    for (const {body} of await Promise.all([look, claim])) assert.equal(body.messages.length, 1)
  })

  it('gives two nodes that wait one of two messages each', async (t) => {
    const plane = await planeOfTwo(t)
    const polls = ['n-1', 'n-2'].map((node) => inbox(plane, {claimer_node_id: node, wait_ms: maxWaitMs}))
    await waiting(plane, 2)
    await Promise.all([deliver(plane), deliver(plane)])
    const ids = (await Promise.all(polls)).map(({body}) => body.messages[0].id)
    assert.equal(new Set(ids).size, 2)
  })

  it('is not disturbed by messages for others, or of other types', async (t) => {
    const plane = await planeOfTwo(t)
    const poll = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs, message_types: ['wanted']})
    await waiting(plane, 1)
    await deliver(plane, {receiver_agent_id: '3', message_type: 'wanted'})
    await deliver(plane, {message_type: 'unwanted'})
    await waiting(plane, 1)
    await deliver(plane, {message_type: 'wanted'})
    assert.equal((await poll).body.messages[0].message_type, 'wanted')
  })

  it('comes back empty when its time is up', async (t) => {
    const plane = await planeOfTwo(t)
    const begun = performance.now()
    const {status, body} = await inbox(plane, {claimer_node_id: 'n-1', wait_ms: 150})
    assert.deepEqual([status, body], [200, {messages: []}])
    assert.ok(performance.now() - begun >= 149)
  })

  it('has the messages of a node that leaves', async (t) => {
    const plane = await planeOfTwo(t)
    await deliver(plane)
    await inbox(plane, {claimer_node_id: 'n-1'})
    const poll = inbox(plane, {claimer_node_id: 'n-2', wait_ms: maxWaitMs})
    await waiting(plane, 1)
    await ask(plane, 'POST', '/v1/mesh/leave', {body: {id: 'n-1'}})
    assert.equal((await poll).body.messages[0].delivery_attempts, 2)
  })

  it('has all messages of a node that leaves, each who waits one of them', async (t) => {
    const plane = await planeOfTwo(t, {safetyMs: 60_000})
    const others = ['n-3', 'n-4', 'n-5']
    for (const id of others) await ask(plane, 'POST', '/v1/mesh/join', {body: record(id)})
    for (const _ of others) await deliver(plane)
    const had: number[] = []
    for (const _ of others) {
      const exclude = {claimer_node_id: 'n-1', exclude_message_ids: had}
      had.push((await inbox(plane, exclude)).body.messages[0].id)
    }
    const polls = others.map((node) => inbox(plane, {claimer_node_id: node, wait_ms: maxWaitMs}))
    await waiting(plane, others.length)
    const left = performance.now()
    await ask(plane, 'POST', '/v1/mesh/leave', {body: {id: 'n-1'}})
    const got = (await Promise.all(polls)).map(({body}) => body.messages[0]?.id)
    assert.deepEqual(new Set(got), new Set(had))
    assert.ok(performance.now() - left < soonMs, 'before they look again by themselves')
  })

  it('has a message whose claim has run out', async (t) => {
    const plane = await planeOfTwo(t, {limits: {leaseMs: 1000}, safetyMs: 50})
    await deliver(plane)
    await inbox(plane, {claimer_node_id: 'n-1'})
    const {body} = await inbox(plane, {claimer_node_id: 'n-2', wait_ms: maxWaitMs})
    assert.equal(body.messages[0].lease_holder_node_id, 'n-2')
  })

  it('does not wait for messages that are older than one that was seen', async (t) => {
    const plane = await planeOfTwo(t)
    const {body: delivered} = await deliver(plane)
    const begun = performance.now()
    const {body} = await inbox(plane, {before_message_id: delivered.message_id, wait_ms: maxWaitMs})
    assert.deepEqual(body, {messages: []})
    assert.ok(performance.now() - begun < soonMs)
  })

  it('frees the place of a client that hangs up, and claims nothing for it', async (t) => {
    const plane = await planeOfTwo(t)
    const url = `${plane.baseUrl}/v1/mesh/a2a/inbox`
    const leaving = request(url, {method: 'POST', agent: false, headers: {'content-type': 'application/json'}})
    leaving.on('error', () => {})
    leaving.end(JSON.stringify({receiver_agent_id: '2', claimer_node_id: 'n-1', wait_ms: maxWaitMs}))
    await waiting(plane, 1)
    leaving.destroy()
    await waiting(plane, 0)
    await deliver(plane)
    const {body} = await inbox(plane, {})
    assert.deepEqual([body.messages.length, body.messages[0].delivery_attempts], [1, 0])
  })

  it('turns away who would wait where too many do', async (t) => {
    const plane = await planeOfTwo(t, {longPolls: 1})
    const poll = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs})
    await waiting(plane, 1)
    const {status, headers, body} = await inbox(plane, {claimer_node_id: 'n-2', wait_ms: maxWaitMs})
    assert.deepEqual([status, body.code], [503, 'overloaded'])
    assert.match(headers['retry-after'] ?? '', /^\d+$/)
    assert.equal((await inbox(plane, {claimer_node_id: 'n-2'})).status, 200)
    await deliver(plane)
    assert.equal((await poll).status, 200)
  })

  it('answers everyone when the server stops, and claims nothing', async (t) => {
    const plane = await planeOfTwo(t)
    const polls = ['n-1', 'n-2'].map((node) => inbox(plane, {claimer_node_id: node, wait_ms: maxWaitMs}))
    await waiting(plane, 2)
    const begun = performance.now()
    await plane.close(2 * maxWaitMs)
    for (const {status, body} of await Promise.all(polls)) assert.deepEqual([status, body], [200, {messages: []}])
    assert.ok(performance.now() - begun < soonMs, 'nobody was waited for')
  })
})
