import assert from 'node:assert/strict'
import {request} from 'node:http'
import {describe, it, type TestContext} from 'node:test'
import {maxWaitMs} from '../../../src/mesh/protocol/message-body.js'
import {ask} from './support/ask.js'
import {type Plane, type PlaneOptions, startPlane, waiting} from './support/control-plane.js'
import {message, record} from './support/samples.js'

/** Shorter than the wait of a long poll, but longer than any response takes, ms. */
const soonMs = maxWaitMs / 2

/** Starts a control plane with two nodes. */
async function planeOfTwo(t: TestContext, options: PlaneOptions = {}): Promise<Plane> {
  const plane = await startPlane(t, options)
  for (const id of ['n-1', 'n-2']) await ask(plane, 'POST', '/v1/mesh/join', {body: record(id)})
  return plane
}

const inbox = (plane: Plane, body: object) =>
  ask(plane, 'POST', '/v1/mesh/a2a/inbox', {body: {receiver_agent_id: '2', ...body}})
const deliver = (plane: Plane, more: object = {}) => ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message(more)})

describe('long poll of an inbox', () => {
  it('returns to a claiming node as soon as a message arrives', async (t) => {
    const plane = await planeOfTwo(t)
    const poll = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs})
    await waiting(plane, 1)
    const {body: delivered} = await deliver(plane)
    const {body} = await poll
    assert.equal(body.messages[0].id, delivered.message_id)
    assert.equal(body.messages[0].lease_holder_node_id, 'n-1')
  })

  it('returns to readers without taking the message from claimers', async (t) => {
    const plane = await planeOfTwo(t)
    const look = inbox(plane, {wait_ms: maxWaitMs})
    const claim = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs})
    await waiting(plane, 2)
    await deliver(plane)
    for (const {body} of await Promise.all([look, claim])) assert.equal(body.messages.length, 1)
  })

  it('distributes two messages to two waiting nodes', async (t) => {
    const plane = await planeOfTwo(t)
    const polls = ['n-1', 'n-2'].map((node) => inbox(plane, {claimer_node_id: node, wait_ms: maxWaitMs}))
    await waiting(plane, 2)
    await Promise.all([deliver(plane), deliver(plane)])
    const ids = (await Promise.all(polls)).map(({body}) => body.messages[0].id)
    assert.equal(new Set(ids).size, 2)
  })

  it('ignores messages for other receivers and of other types', async (t) => {
    const plane = await planeOfTwo(t)
    const poll = inbox(plane, {claimer_node_id: 'n-1', wait_ms: maxWaitMs, message_types: ['wanted']})
    await waiting(plane, 1)
    await deliver(plane, {receiver_agent_id: '3', message_type: 'wanted'})
    await deliver(plane, {message_type: 'unwanted'})
    await waiting(plane, 1)
    await deliver(plane, {message_type: 'wanted'})
    assert.equal((await poll).body.messages[0].message_type, 'wanted')
  })

  it('returns empty after its wait', async (t) => {
    const plane = await planeOfTwo(t)
    const begun = performance.now()
    const {status, body} = await inbox(plane, {claimer_node_id: 'n-1', wait_ms: 150})
    assert.deepEqual([status, body], [200, {messages: []}])
    assert.ok(performance.now() - begun >= 149)
  })

  it('returns a message released by a node that leaves', async (t) => {
    const plane = await planeOfTwo(t)
    await deliver(plane)
    await inbox(plane, {claimer_node_id: 'n-1'})
    const poll = inbox(plane, {claimer_node_id: 'n-2', wait_ms: maxWaitMs})
    await waiting(plane, 1)
    await ask(plane, 'POST', '/v1/mesh/leave', {body: {id: 'n-1'}})
    assert.equal((await poll).body.messages[0].delivery_attempts, 2)
  })

  it('distributes all messages released by a node that leaves', async (t) => {
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

  it('returns a message whose claim has expired', async (t) => {
    const plane = await planeOfTwo(t, {limits: {leaseMs: 1000}, safetyMs: 50})
    await deliver(plane)
    await inbox(plane, {claimer_node_id: 'n-1'})
    const {body} = await inbox(plane, {claimer_node_id: 'n-2', wait_ms: maxWaitMs})
    assert.equal(body.messages[0].lease_holder_node_id, 'n-2')
  })

  it('does not wait for a page of older messages', async (t) => {
    const plane = await planeOfTwo(t)
    const {body: delivered} = await deliver(plane)
    const begun = performance.now()
    const {body} = await inbox(plane, {before_message_id: delivered.message_id, wait_ms: maxWaitMs})
    assert.deepEqual(body, {messages: []})
    assert.ok(performance.now() - begun < soonMs)
  })

  it('ends without a claim when the client disconnects', async (t) => {
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

  it('is refused above the limit', async (t) => {
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

  it('ends without a claim when the server stops', async (t) => {
    const plane = await planeOfTwo(t)
    const polls = ['n-1', 'n-2'].map((node) => inbox(plane, {claimer_node_id: node, wait_ms: maxWaitMs}))
    await waiting(plane, 2)
    const begun = performance.now()
    await plane.close(2 * maxWaitMs)
    for (const {status, body} of await Promise.all(polls)) assert.deepEqual([status, body], [200, {messages: []}])
    assert.ok(performance.now() - begun < soonMs, 'nobody was waited for')
  })
})
