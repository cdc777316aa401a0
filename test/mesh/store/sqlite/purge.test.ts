import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {day, leaseMs, message, refused, TestClock} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

type Store = Awaited<ReturnType<typeof openAt>>

const keyed = message({idempotency_key: 'key', jwe_payload: 'sealed'})

async function giveUp(store: Store, clock: TestClock): Promise<void> {
  await store.deliver('', message())
  for (let i = 0; i < 16; i++) {
    await store.claim('', {receiver: '2', claimer: 'n1'})
    clock.advance(leaseMs)
  }
  assert.equal(await store.claim('', {receiver: '2', claimer: 'n1'}), undefined)
}

async function begin(t: Parameters<typeof newPath>[0]) {
  const clock = new TestClock()
  const path = await newPath(t)
  const store = await openAt(t, path, {wallClock: () => clock.wall, monotonic: () => clock.passed})
  await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
  return {clock, path, store}
}

/** Retention of rows after their end, ms. */
const kept: readonly (readonly [
  what: string,
  rows: string,
  keptMs: number,
  end: (store: Store, clock: TestClock) => Promise<unknown>,
])[] = [
  [
    'acknowledged messages',
    'mesh_messages',
    day,
    async (store) => store.ack('', {receiver: '2', message: (await store.deliver('', message())).message_id}),
  ],
  ['dead letters', 'mesh_messages', 7 * day, giveUp],
  [
    'leases',
    'mesh_exec_leases',
    7 * day,
    async (store) => {
      const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
      await store.releaseLease('', {lease, claimer: 'n1'})
    },
  ],
  [
    'the audit',
    "mesh_audit WHERE action = 'node.maintenance'",
    30 * day,
    (store) => store.setMaintenance('', 'n1', {on: true}, 'admin'),
  ],
  ['nodes', 'mesh_nodes', 30 * day, async () => undefined],
  ['last heartbeats of nodes', 'mesh_node_seen', 30 * day, async () => undefined],
]

describe('expired rows', () => {
  for (const [what, rows, keptMs, end] of kept)
    it(`are kept for ${keptMs / day} days: ${what}`, async (t) => {
      const {clock, path, store} = await begin(t)
      await end(store, clock)
      const count = connect(t, path).prepare(`SELECT count(*) FROM ${rows}`).pluck()
      const purged = async () => {
        while (await store.purge());
        return count.get()
      }
      assert.equal(await purged(), 1)
      clock.advance(keptMs - 1)
      assert.equal(await purged(), 1)
      clock.advance(1)
      assert.equal(await purged(), 0)
    })

  it('are no longer counted as dead messages', async (t) => {
    const {clock, store} = await begin(t)
    await giveUp(store, clock)
    assert.equal((await store.counts('')).dead, 1)
    clock.advance(7 * day)
    while (await store.purge());
    assert.equal((await store.counts('')).dead, 0)
    assert.equal((await store.queueStats('')).dead_count, 0)
  })

  it('contain no payload of acknowledged messages', async (t) => {
    const {path, store} = await begin(t)
    const {message_id: id} = await store.deliver('', keyed)
    await store.ack('', {receiver: '2', message: id})
    const row = connect(t, path).prepare('SELECT payload, jwe FROM mesh_messages').get()
    assert.deepEqual(row, {payload: '', jwe: null})
    assert.deepEqual(await store.deliver('', keyed), {accepted: true, message_id: id, duplicate: true})
    await refused(store.deliver('', {...keyed, payload: 'other'}), 'idempotency_key_reused')
  })
})
