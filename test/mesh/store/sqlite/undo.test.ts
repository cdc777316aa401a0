import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'
import {message, refused} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

/** Observable state of a store. */
const stateOf = async (store: MeshStore) => ({
  nodes: (await store.listNodes('', {limit: 100})).records.map((record) => JSON.parse(record)),
  leases: await store.listLeases(''),
  stats: await store.queueStats(''),
  waiting: await store.peek('', {receiver: '2', limit: 100}),
  pending: await store.countPending('', {receiver: '2', limit: 100}),
  count: (await store.heartbeat('', {facts: {id: 'n1'}, isFull: false, incarnation: 1, seq: 0})).nodeCount,
})

async function begin(path: string): Promise<MeshStore> {
  // With a stopped clock, the state changes only by operations.
  const store = await openAt({after: () => undefined}, path, {wallClock: () => 1e12, monotonic: () => 0})
  for (const id of ['n1', 'n2', 'n3'])
    await store.join('', {id, version: '1.0.0', capabilities: {}}, {incarnation: 1, seq: 0})
  await store.setQuarantine('', 'n3', true, 'admin')
  for (let i = 0; i < 4; i++) await store.deliver('', message({task_kind: 'embed', payload: `${i}`}))
  await store.claim('', {receiver: '2', claimer: 'n1'})
  await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
  return store
}

/** Kinds of failure: the transaction stays open, or SQLite rolls it back, as on a full disk. */
for (const how of ['ABORT', 'ROLLBACK'])
  describe(`transaction that fails with ${how}`, () => {
    it('has no effect, so that its operations can be retried', async (t) => {
      const good = message({payload: 'good', task_kind: 'other', priority: 255})
      const work = (store: MeshStore) => [
        store.deliver('', good),
        store.join('', {id: 'n4', version: '2.0.0', capabilities: {}}, {incarnation: 4, seq: 0}),
        store.join('', {id: 'n2', version: '2.0.0', capabilities: {}}, {incarnation: 2, seq: 0}),
        store.leave('', 'n1'),
        store.setQuarantine('', 'n3', false, 'admin'),
        store.setMaintenance('', 'n2', {on: true}, 'admin'),
        store.grantLease('', {scopeKey: 'task:2', claimer: 'n3'}),
        store.claim('', {receiver: '2', claimer: 'n3'}),
        store.ack('', {receiver: '2', message: 2}),
        store.useTokenId('id', 2e12),
      ]
      const comeBack = (store: MeshStore) =>
        store.join('', {id: 'n1', version: '1.0.0', capabilities: {}}, {incarnation: 1, seq: 0})
      const [path, sound] = [await newPath(t), await begin(await newPath(t))]
      let store = await begin(path)
      t.after(() => Promise.all([store.close(), sound.close()]))
      connect(t, path).exec(`CREATE TRIGGER poison BEFORE INSERT ON mesh_messages WHEN new.payload = 'poison'
        BEGIN SELECT RAISE(${how}, 'poisoned'); END`)
      const poison = () => refused(store.deliver('', {...good, payload: 'poison'}), 'store_unavailable')
      // The second poisoned operation fails again when all are retried individually.
      const failed = [poison(), ...work(store), poison()]
      assert.deepEqual((await Promise.all(failed)).slice(1, -1), await Promise.all(work(sound)))
      await Promise.all([comeBack(store), comeBack(sound)])
      const expected = await stateOf(sound)
      assert.deepEqual(await stateOf(store), expected)
      await store.close()
      store = await openAt(t, path, {wallClock: () => 1e12, monotonic: () => 0})
      assert.deepEqual(await stateOf(store), expected)
    })

    it('also undoes heartbeats', async (t) => {
      const path = await newPath(t)
      const store = await begin(path)
      t.after(() => store.close())
      const before = await stateOf(store)
      const database = connect(t, path)
      database.exec(
        `CREATE TRIGGER poison BEFORE INSERT ON mesh_node_beats BEGIN SELECT RAISE(${how}, 'poisoned'); END`,
      )
      const beat = (id: string, seq: number) =>
        store.heartbeat('', {facts: {id, cpu_usage_pct: 7, listen_addr: 'x'}, isFull: false, incarnation: 1, seq})
      for (const each of [beat('n1', 1), beat('n2', 1), beat('n1', 2)]) await refused(each, 'store_unavailable')
      assert.deepEqual(await stateOf(store), before)
      database.exec('DROP TRIGGER poison')
      assert.equal(JSON.parse((await beat('n1', 1)).record).cpu_usage_pct, 7)
    })
  })
