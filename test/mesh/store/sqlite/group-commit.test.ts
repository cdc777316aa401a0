import assert from 'node:assert/strict'
import {once} from 'node:events'
import {describe, it} from 'node:test'
import {setTimeout as wait} from 'node:timers/promises'
import {Worker} from 'node:worker_threads'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'
import {endOf, message, refused} from '../conformance/story.js'
import {connect, openNew} from './open-store.js'
import {commitsIn} from './write-ahead-log.js'

/** Disables the time limit of transactions, for slow machines. */
const stopped = {monotonic: () => 0}

const deliver = (store: MeshStore, text: string) => store.deliver('', message({payload: text}))

describe('operations of one event-loop iteration', () => {
  it('form one transaction', async (t) => {
    const {path, store} = await openNew(t, stopped)
    const before = commitsIn(path)
    const work = Array.from({length: 100}, (_, j) => deliver(store, `${j}`))
    assert.equal(store.depth, 100)
    await Promise.all(work)
    assert.equal(store.depth, 0)
    assert.equal(commitsIn(path) - before, 1)
    for (let i = 0; i < 3; i++) await deliver(store, 'alone')
    assert.equal(commitsIn(path) - before, 4)
  })

  it('are split into several transactions if there are many', async (t) => {
    const {path, store} = await openNew(t)
    const before = commitsIn(path)
    let turns = 0
    const count = () => {
      turns += 1
      if (store.depth > 0) setImmediate(count)
    }
    const work = Array.from({length: 2000}, (_, i) => deliver(store, `${i}`))
    setImmediate(count)
    await Promise.all(work)
    const commits = commitsIn(path) - before
    assert.ok(commits >= 2000 / 256 && commits <= 2000 / 8, `${commits} transactions`)
    assert.ok(turns >= commits - 1, `${turns} turns`)
  })

  it('are split into several transactions if they are slow', async (t) => {
    let ms = 0
    // Each operation uses part of the time limit of a transaction.
    const {store} = await openNew(t, {monotonic: () => (ms += 5)})
    const work = Array.from({length: 30}, (_, i) => deliver(store, `${i}`))
    await work[0]
    assert.ok(store.depth > 0)
    await Promise.all(work)
  })

  it('are on disk before the first one is confirmed', async (t) => {
    const {path, store} = await openNew(t)
    const reader = connect(t, path)
    const rows = () => reader.prepare('SELECT count(*) FROM mesh_messages').pluck().get()
    const first = deliver(store, '0')
    const rest = [deliver(store, '1'), deliver(store, '2')]
    assert.equal(rows(), 0)
    await first
    assert.equal(rows(), 3)
    await Promise.all(rest)
  })

  it('are not affected by a refused one', async (t) => {
    const {path, store} = await openNew(t, stopped)
    const before = commitsIn(path)
    const keyed = message({idempotency_key: 'key'})
    const ends = await Promise.all(
      [
        store.deliver('', keyed),
        store.renewLease('', {lease: '7', claimer: 'n1'}),
        store.deliver('', {...keyed, payload: 'other'}),
        store.grantLease('', {scopeKey: 'task:1', claimer: 'nobody'}),
        store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'}),
        store.leave('', 'nobody'),
        deliver(store, 'last'),
      ].map(endOf),
    )
    assert.deepEqual(ends, [
      'ok',
      'lease_not_found',
      'idempotency_key_reused',
      'unknown_node',
      'ok',
      'node_not_found',
      'ok',
    ])
    assert.equal(commitsIn(path) - before, 1)
    assert.equal((await store.peek('', {receiver: '2', limit: 9})).length, 2)
  })

  it('are not affected by a failed one', async (t) => {
    const {path, store} = await openNew(t, stopped)
    for (const how of ['ABORT', 'ROLLBACK']) {
      const database = connect(t, path)
      database.exec(`CREATE TRIGGER poison BEFORE INSERT ON mesh_messages WHEN new.payload = 'poison'
        BEGIN SELECT RAISE(${how}, 'poisoned'); END`)
      const ends = await Promise.all(
        ['1', 'poison', '2', 'poison', '3'].map((text) => endOf(deliver(store, `${text}`))),
      )
      assert.deepEqual(ends, ['ok', 'store_unavailable', 'ok', 'store_unavailable', 'ok'])
      database.exec('DROP TRIGGER poison')
      const before = commitsIn(path)
      await Promise.all([deliver(store, '4'), deliver(store, '5')])
      assert.equal(commitsIn(path) - before, 1, 'what comes after is together again')
    }
    assert.equal((await store.peek('', {receiver: '2', limit: 64})).length, 10)
  })

  it('have a separate transaction for heartbeats', async (t) => {
    const {path, store} = await openNew(t, stopped)
    const before = commitsIn(path)
    const beat = () => store.heartbeat('', {facts: {id: 'n1'}, isFull: false})
    await Promise.all([beat(), deliver(store, '1'), beat(), deliver(store, '2'), beat()])
    assert.equal(commitsIn(path) - before, 2)
  })

  it('write nothing without changes', async (t) => {
    const {path, store} = await openNew(t, stopped)
    const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
    const before = commitsIn(path)
    for (let i = 0; i < 5; i++) {
      await store.claim('', {receiver: '2', claimer: 'n1'})
      await store.verifyLease('', {lease, scopeKey: 'task:1'})
      await store.listLeases('')
      await store.queueStats('')
      await store.listNodes('', {limit: 5})
    }
    assert.ok(commitsIn(path) - before <= 1, 'but for the clock')
  })
})

/** Holds the write lock of a file from another thread. @returns function that releases it */
async function lock(path: string): Promise<() => Promise<unknown>> {
  const code = `
    const {workerData: {driver, path}, parentPort} = require('node:worker_threads')
    import(driver).then(({Driver}) => {
      const database = new Driver(path)
      database.exec('BEGIN IMMEDIATE')
      parentPort.postMessage('locked')
      parentPort.once('message', () => { database.exec('ROLLBACK'); database.close() })
    })
  `
  const driver = new URL('../../../support/sqlite.js', import.meta.url).href
  const worker = new Worker(code, {eval: true, workerData: {driver, path}})
  await once(worker, 'message')
  return () => {
    worker.postMessage('free')
    return once(worker, 'exit')
  }
}

describe('database locked by another process', () => {
  it('is written after the release, without blocking the event loop', async (t) => {
    const {path, store} = await openNew(t)
    const free = await lock(path)
    const work = deliver(store, 'late')
    for (let turns = 0; turns < 10; turns++) await wait(10)
    assert.equal(store.depth, 1)
    assert.equal((await store.peek('', {receiver: '2', limit: 1})).length, 0)
    await free()
    await work
    assert.equal((await store.peek('', {receiver: '2', limit: 1})).length, 1)
  })

  it('is reported after the timeout, and nothing is written', async (t) => {
    const {path, store} = await openNew(t, {lockTimeoutMs: 100})
    const free = await lock(path)
    const work = [deliver(store, '1'), store.heartbeat('', {facts: {id: 'n1'}, isFull: false})]
    for (const each of work) await refused(each, 'store_unavailable')
    await free()
    await deliver(store, '2')
    const [only, ...others] = await store.peek('', {receiver: '2', limit: 9})
    assert.deepEqual([only?.payload, others.length], ['2', 0])
  })

  it('causes the same timeout for each operation, whenever it started', async (t) => {
    const {path, store} = await openNew(t, {lockTimeoutMs: 1000})
    const free = await lock(path)
    const first = refused(deliver(store, 'first'), 'store_unavailable')
    await wait(600)
    const second = deliver(store, 'second')
    await first
    assert.equal(store.depth, 1)
    await free()
    await second
    const waiting = await store.peek('', {receiver: '2', limit: 9})
    assert.deepEqual(
      waiting.map(({payload}) => payload),
      ['second'],
    )
  })
})

describe('closed store', () => {
  it('completes pending operations and rejects new ones', async (t) => {
    const {path, store} = await openNew(t)
    const work = Array.from({length: 1000}, (_, i) => deliver(store, `${i}`))
    const closed = store.close()
    await refused(deliver(store, 'late'), 'store_unavailable')
    await Promise.all([...work, closed])
    await store.close()
    await refused(deliver(store, 'later'), 'store_unavailable')
    await refused(store.listNodes('', {limit: 1}), 'store_unavailable')
    const rows = connect(t, path).prepare('SELECT count(*) FROM mesh_messages').pluck().get()
    assert.equal(rows, 1000)
  })
})
