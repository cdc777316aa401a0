import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'
import {minute, refused, TestClock} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

const join = (store: MeshStore, id: string, incarnation: number, seq = 0) =>
  store.join('', {id, version: '1.0.0', capabilities: {}}, {incarnation, seq})

async function records(store: MeshStore): Promise<Record<string, unknown>[]> {
  const all: string[] = []
  let after: string | undefined
  do {
    const page = await store.listNodes('', {limit: 500, after})
    all.push(...page.records)
    after = page.next
  } while (after !== undefined)
  return all.map((record) => JSON.parse(record))
}

describe('heartbeats', () => {
  it('survive restarts, whatever their number', async (t) => {
    const path = await newPath(t)
    let store = await openAt(t, path)
    const ids = Array.from({length: 700}, (_, i) => `n${i}`)
    await Promise.all(ids.map((id, i) => join(store, id, i)))
    const seqs = new Map(ids.map((id) => [id, 0]))
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 900; i += 100) {
        const beats = Array.from({length: 100}, (_, j) => (i * 31 + j * 7 + round) % 700)
        await Promise.all(
          [...new Set(beats)].map((n) => {
            const id = `n${n}`
            const seq = (seqs.get(id) ?? 0) + 1
            seqs.set(id, seq)
            const facts = {id, cpu_usage_pct: round + n / 1000}
            return store.heartbeat('', {facts, isFull: false, incarnation: n, seq})
          }),
        )
      }
      // Some nodes leave and join again: their old state must not return.
      const [gone, anew] = [`n${round}`, `n${100 + round}`]
      await store.leave('', gone)
      await store.leave('', anew)
      await join(store, anew, 100 + round, 0)
      seqs.set(anew, 0)
      await join(store, gone, round, 0)
      seqs.set(gone, 0)
      if (round % 2 === 1) while (await store.purge());
      const before = await records(store)
      assert.equal(before.length, 700)
      await store.close()
      store = await openAt(t, path)
      assert.deepEqual(await records(store), before)
      const late = {facts: {id: 'n300', cpu_usage_pct: 99}, isFull: false, incarnation: 300, seq: seqs.get('n300') ?? 0}
      await store.heartbeat('', late)
      assert.deepEqual(await records(store), before, 'one that comes again is known')
    }
    while (await store.purge());
    const database = connect(t, path)
    assert.equal(database.prepare('SELECT count(*) FROM mesh_node_beats').pluck().get(), 0)
    const rows = database.prepare('SELECT node_id AS id, last_seen FROM mesh_node_seen ORDER BY node_id').all()
    assert.deepEqual(
      rows,
      (await records(store)).map(({id, last_seen_unix_ms}) => ({id, last_seen: last_seen_unix_ms})),
    )
  })

  it('of nodes that have left do not affect others', async (t) => {
    const path = await newPath(t)
    const first = await openAt(t, path)
    await join(first, 'n1', 1)
    for (let seq = 1; seq <= 20; seq++)
      await first.heartbeat('', {facts: {id: 'n1'}, isFull: false, incarnation: 1, seq})
    await first.leave('', 'n1')
    await first.close()
    const store = await openAt(t, path)
    await join(store, 'n2', 2)
    for (let seq = 1; seq <= 50; seq++)
      await store.heartbeat('', {facts: {id: 'n2', cpu_usage_pct: seq}, isFull: false, incarnation: 2, seq})
    assert.equal((await records(store))[0]?.cpu_usage_pct, 50)
  })

  it('keep the order of processes across restarts', async (t) => {
    const path = await newPath(t)
    const clock = new TestClock()
    const open = () => openAt(t, path, {wallClock: () => clock.wall, monotonic: () => clock.passed})
    const first = await open()
    for (const incarnation of [1, 2]) await join(first, 'n1', incarnation)
    clock.advance(10 * minute)
    await first.heartbeat('', {facts: {id: 'n1'}, isFull: false, incarnation: 3, seq: 1})
    await first.close()
    const store = await open()
    for (const incarnation of [1, 2]) await refused(join(store, 'n1', incarnation), 'duplicate_node_id')
    await store.heartbeat('', {facts: {id: 'n1'}, isFull: false, incarnation: 3, seq: 2})
  })

  it('do not grow the database without limit', async (t) => {
    const path = await newPath(t)
    const store = await openAt(t, path)
    await join(store, 'n1', 1)
    const database = connect(t, path)
    const rows = () => database.prepare('SELECT count(*) FROM mesh_node_beats').pluck().get() as number
    let most = 0
    for (let seq = 1; seq <= 2000; seq++) {
      await store.heartbeat('', {facts: {id: 'n1'}, isFull: false, incarnation: 1, seq})
      if (seq % 50 === 0) most = Math.max(most, rows())
    }
    assert.ok(most < 1000, `${most} rows`)
  })
})
