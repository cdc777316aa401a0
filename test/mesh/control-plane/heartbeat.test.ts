import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {heartbeatIntervalMs} from '../../../src/mesh/control-plane/heartbeat-interval.js'
import {until} from '../../support/until.js'
import {ask} from './support/ask.js'
import {startPlane} from './support/control-plane.js'
import {message, record} from './support/samples.js'

describe('heartbeat interval', () => {
  for (const [nodes, perSecond, ms] of [
    [0, 5000, 15_000],
    [1, 5000, 15_000],
    [75_000, 5000, 15_000],
    [75_001, 5000, 15_001],
    [100_000, 5000, 20_000],
    [1_000_000, 5000, 200_000],
    [3, 0.1, 30_000],
  ] as const)
    it(`is ${ms} ms for ${nodes} nodes at ${perSecond} per second`, () =>
      assert.equal(heartbeatIntervalMs(nodes, perSecond), ms))
})

describe('heartbeat', () => {
  it('returns the record and the next interval', async (t) => {
    const plane = await startPlane(t, {heartbeatsPerSec: 1})
    for (let i = 0; i < 20; i++) await ask(plane, 'POST', '/v1/mesh/join', {body: record(`n-${i}`)})
    const {body} = await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: {id: 'n-1', cpu_usage_pct: 7}})
    const {next_heartbeat_ms: next, server_time_unix_ms: now, inbox_pending: pending, ...node} = body
    assert.deepEqual([next, pending], [20_000, 0])
    assert.ok(now >= node.last_seen_unix_ms)
    const {body: listed} = await ask(plane, 'GET', '/v1/mesh/nodes', {query: 'labels=pool=train'})
    assert.deepEqual(
      listed.nodes.find(({id}: {id: string}) => id === 'n-1'),
      node,
    )
  })

  it('returns the pending messages of the named agent, or of all', async (t) => {
    const plane = await startPlane(t)
    await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1')})
    const pending = async (more: object) =>
      (await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: {id: 'n-1', ...more}})).body.inbox_pending
    for (const receiver of ['2', '2', '3'])
      await ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message({receiver_agent_id: receiver})})
    assert.deepEqual([await pending({}), await pending({receiver_agent_id: '2'})], [3, 2])
    assert.equal(await pending({receiver_agent_id: '9'}), 0)
  })

  it('reports a new message soon', async (t) => {
    const plane = await startPlane(t)
    await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1')})
    const pending = async () => (await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: {id: 'n-1'}})).body.inbox_pending
    assert.equal(await pending(), 0)
    await ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message()})
    await until(async () => (await pending()) === 1, 'the message is counted')
  })

  it('cannot set members reserved for the control plane', async (t) => {
    const plane = await startPlane(t)
    const claims = {quarantined: false, trust_tier: 'trusted', last_seen_unix_ms: 1, unknown_member: {deep: true}}
    await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1', {...claims, trust_tier: 'degraded'})})
    await ask(plane, 'POST', '/v1/mesh/admin/quarantine', {body: {node_id: 'n-1', quarantined: true}})
    const {body} = await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: record('n-1', claims)})
    assert.equal(body.quarantined, true)
    assert.notEqual(body.trust_tier, 'degraded')
    assert.ok(body.last_seen_unix_ms > 1)
    assert.equal(body.unknown_member, undefined)
  })

  it('updates only the members that it contains', async (t) => {
    const plane = await startPlane(t)
    const {body: before} = await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1', {gpu_total_count: 4})})
    const slim = {id: 'n-1', memory_free_bytes: 5, gpu_allocatable_count: 3}
    const {body: after} = await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: slim})
    assert.deepEqual([after.capabilities, after.gpu_total_count], [before.capabilities, 4])
    assert.deepEqual([after.memory_free_bytes, after.gpu_allocatable_count], [5, 3])
  })
})
