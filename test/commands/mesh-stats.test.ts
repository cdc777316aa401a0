import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshStatsV1} from '../../src/contracts/index.js'
import {startPlane} from '../mesh/control-plane/support/control-plane.js'
import {message, record} from '../mesh/control-plane/support/samples.js'
import {meshWorkspace} from '../support/mesh-workspace.js'

describe('svc mesh stats', () => {
  it('counts nodes, leases and messages', async (t) => {
    let now = Date.now()
    const plane = await startPlane(t, {storeTime: () => now})
    const {text, json} = await meshWorkspace(t, plane, {})
    assert.equal(await text(['stats']), 'Nodes:         0\nLeases:        0\nPending:       0\nDead letters:  0\n')
    const empty = {nodes: 0, leases: 0, pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 0}
    assert.deepEqual(await json<MeshStatsV1>('stats', ['stats']), {...empty, oldest_pending_age_ms: null})

    for (const node of ['n-1', 'n-2']) await plane.store.join('', record(node) as never)
    await plane.store.grantLease('', {scopeKey: 'k', claimer: 'n-1'})
    const kinds = [undefined, 'embed', 'embed']
    for (const task_kind of kinds)
      await plane.store.deliver('', {...message(), priority: 128, ...(task_kind && {task_kind})})
    await plane.store.deliver('', {...message(), priority: 255})
    now += 90_000
    assert.equal((await plane.store.claim('', {receiver: '2', claimer: 'n-1'}))?.priority, 255)
    const stats = await json<MeshStatsV1>('stats', ['stats'])
    assert.deepEqual(stats, {
      nodes: 2,
      leases: 1,
      pending_count: 3,
      pending_by_kind: {embed: 2},
      pending_by_priority: {128: 3},
      dead_count: 0,
      oldest_pending_age_ms: 90_000,
    })
    assert.match(
      await text(['stats']),
      /^Nodes: +2\nLeases: +1\nPending: +3, the oldest accepted 1m ago\nBy kind: +embed \(2\)\nBy priority: +128 \(3\)\n/,
    )
  })

  it('requires a token of a worker', async (t) => {
    const plane = await startPlane(t, {secrets: {workerToken: 'canary-token-of-a-worker'}})
    const {fails, text} = await meshWorkspace(t, plane, {})
    await fails(['stats'], 4, 'mesh_token_missing')
    const env = {SVC_MESH_WORKER_TOKEN: 'canary-token-of-a-worker'}
    assert.match(await text(['stats'], {env}), /^Nodes: +0\n/)
  })
})
