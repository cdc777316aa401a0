import assert from 'node:assert/strict'
import {EventEmitter, once} from 'node:events'
import {hostname} from 'node:os'
import {describe, it, type TestContext} from 'node:test'
import pg from 'pg'
import {packageVersion} from '../../../../src/files/index.js'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'
import {purgeLock} from '../../../../src/mesh/store/postgres/purge.js'
import {runSql, skipWithoutPostgres} from '../../../support/postgres.js'
import {until} from '../../../support/until.js'
import {endOf, message, refused} from '../conformance/story.js'
import {newStoreDatabase, openAt} from './open-store.js'

const claimers = ['n1', 'n2', 'n3', 'n4']

/** Opens two stores of one database. */
async function openTwo(t: TestContext): Promise<{url: string; stores: [MeshStore, MeshStore]}> {
  const url = await newStoreDatabase()
  const stores: [MeshStore, MeshStore] = [await openAt(t, url), await openAt(t, url)]
  for (const id of claimers) await stores[0].join('', {id, version: '1.0.0', capabilities: {}})
  return {url, stores}
}

const of = (stores: readonly MeshStore[], i: number) => stores[i % stores.length] as MeshStore

describe('two stores of one database', {skip: skipWithoutPostgres}, () => {
  it('agree on the id of every key', async (t) => {
    const {stores} = await openTwo(t)
    const keys = Array.from({length: 1000}, (_, i) => `key ${(i * 7919) % 100}`)
    const delivered = await Promise.all(
      keys.map((key, i) =>
        of(stores, i).deliver('', message({idempotency_key: key, receiver_agent_id: String(i % 3)})),
      ),
    )
    assert.equal(new Set(delivered.map(({message_id}) => message_id)).size, 300)
    assert.equal(delivered.filter(({duplicate}) => duplicate === undefined).length, 300)
  })

  it('respect the limit of an inbox together', async (t) => {
    const {stores} = await openTwo(t)
    const all = Array.from({length: 10_100}, (_, i) => endOf(of(stores, i).deliver('', message())))
    const ends = await Promise.all(all)
    assert.equal(ends.filter((end) => end === 'ok').length, 10_000)
    assert.equal(ends.filter((end) => end === 'inbox_full').length, 100)
    const [first] = await stores[1].peek('', {receiver: '2', limit: 1, order: 'asc'})
    await stores[1].ack('', {receiver: '2', message: first?.id ?? 0})
    await stores[0].deliver('', message())
    await refused(stores[1].deliver('', message()), 'inbox_full')
  })

  it('claim each message once', async (t) => {
    const {stores} = await openTwo(t)
    await Promise.all(Array.from({length: 200}, (_, i) => of(stores, i).deliver('', message({priority: i % 256}))))
    const claimed: number[] = []
    const work = async (claimer: string, store: MeshStore) => {
      for (;;) {
        const found = await store.claim('', {receiver: '2', claimer})
        if (found === undefined) return
        claimed.push(found.id)
        await store.ack('', {receiver: '2', message: found.id, claimer})
      }
    }
    await Promise.all(claimers.map((claimer, i) => work(claimer, of(stores, i))))
    assert.equal(claimed.length, 200)
    assert.equal(new Set(claimed).size, 200)
  })

  it('grant a contended lease with increasing tokens and epochs that do not overlap', async (t) => {
    const {url, stores} = await openTwo(t)
    let granted = 0
    const contend = async (claimer: string, store: MeshStore) => {
      for (let i = 0; i < 100; i++) {
        const lease = await store.grantLease('', {scopeKey: 'hot', claimer}).catch(() => undefined)
        if (lease === undefined) continue
        granted += 1
        await store.releaseLease('', {lease: lease.lease_id, claimer})
      }
    }
    await Promise.all(claimers.map((claimer, i) => contend(claimer, of(stores, i))))
    assert.ok(granted > 0)
    const epochs = await runSql<{action: string; lease: string; begun: string | null; ended: string | null}>(
      url,
      `SELECT action, detail ->> 'lease_id' AS lease, detail ->> 'granted_unix_ms' AS begun, detail ->> 'ended_unix_ms' AS ended
FROM mesh_audit WHERE action LIKE 'lease.%' ORDER BY id`,
    )
    let last = {lease: 0, ended: 0}
    for (const {action, lease, begun, ended} of epochs) {
      if (action === 'lease.granted') {
        assert.ok(Number(lease) > last.lease && Number(begun) >= last.ended, `${lease} after ${JSON.stringify(last)}`)
        last = {...last, lease: Number(lease)}
      } else {
        assert.equal(Number(lease), last.lease)
        last = {...last, ended: Number(ended)}
      }
    }
  })

  it('skip fencing tokens together after a failover', async (t) => {
    const {stores} = await openTwo(t)
    const [here] = stores
    const {fence_token: last} = await here.grantLease('', {scopeKey: 'a', claimer: 'n1'})
    const skipped = await Promise.all(
      Array.from({length: 8}, (_, i) => of(stores, i).promote('', 1_000_000, `admin-${i}`)),
    )
    const highest = Math.max(...skipped.map(({fence_token}) => fence_token))
    assert.equal(highest, last + 8 * 1_000_001)
    assert.equal((await of(stores, 1).grantLease('', {scopeKey: 'b', claimer: 'n1'})).fence_token, highest + 1)
    assert.equal((await here.grantLease('', {scopeKey: 'a', claimer: 'n1'})).fence_token, last)
    const {rows} = await here.listAudit('', {limit: 20})
    const entries = rows.filter(({action}) => action === 'store.promoted')
    assert.deepEqual(
      entries.map(({actor}) => actor).sort(),
      Array.from({length: 8}, (_, i) => `admin-${i}`),
    )
    for (const {target, detail} of entries)
      assert.ok(target === 'fence' && skipped.some(({fence_token}) => fence_token === detail.fence_token))
  })

  it('list each other, with the time since when they are open, and only while they are', async (t) => {
    const {url, stores} = await openTwo(t)
    const [here, there] = stores
    const listed = await here.replicas()
    assert.deepEqual(await there.replicas(), listed)
    assert.equal(new Set(listed.map(({id}) => id)).size, 2)
    for (const {version, host, since_unix_ms: since} of listed) {
      assert.deepEqual([version, host], [packageVersion(), hostname()])
      assert.ok(since > 0 && since <= here.now())
    }
    await runSql(url, `INSERT INTO mesh_replicas VALUES (0, 'gone', '1', 'h', 1)`)
    // A lost session registers again under its new connection.
    const pids = () => runSql<{pid: number}>(url, 'SELECT pid FROM mesh_replicas')
    const lost = new Set((await pids()).map(({pid}) => pid))
    await runSql(url, 'SELECT pg_terminate_backend(pid) FROM mesh_replicas WHERE pid > 0')
    const areNew = async () => (await pids()).every(({pid}) => !lost.has(pid)) && (await here.replicas()).length === 2
    await until(areNew, 'both stores are registered again')
    assert.deepEqual(await here.replicas(), listed)
    await there.close()
    await until(async () => (await here.replicas()).length === 1, 'the closed store is not listed')
    await here.close()
  })

  it('count nodes and see the heartbeats of each other', async (t) => {
    const {stores} = await openTwo(t)
    for (let seq = 1; seq <= 20; seq++) {
      const beat = {facts: {id: 'n1', cpu_usage_pct: seq}, isFull: false, incarnation: 3, seq}
      await of(stores, seq).heartbeat('', beat)
      const {record} = await of(stores, seq + 1).heartbeat('', {...beat, seq: seq - 1})
      assert.equal(JSON.parse(record).cpu_usage_pct, seq, 'a late heartbeat changes nothing')
    }
    await Promise.all(
      Array.from({length: 200}, (_, i) => of(stores, i).heartbeat('', {facts: {id: `n${1 + (i % 4)}`}, isFull: false})),
    )
    assert.equal((await stores[1].counts('')).nodes, 4)
  })

  it('notify each other of messages by receiver, and of all after a node has left', async (t) => {
    const {stores} = await openTwo(t)
    const [here, there] = stores
    const arrived = new EventEmitter()
    const own: unknown[] = []
    here.onArrival?.((arrival) => own.push(arrival))
    there.onArrival?.((arrival) => arrived.emit('arrival', arrival('', '2'), arrival('', '3')))
    let next = once(arrived, 'arrival')
    await here.deliver('', message({receiver_agent_id: '2'}))
    assert.deepEqual(await next, [true, false])
    next = once(arrived, 'arrival')
    await here.leave('', 'n4')
    assert.deepEqual(await next, [true, true])
    assert.deepEqual(own, [])
  })

  it('do not purge while another process does', async (t) => {
    const {url, stores} = await openTwo(t)
    const [store] = stores
    await store.useTokenId('id', store.now() - 1)
    const other = new pg.Client(url)
    await other.connect()
    t.after(() => other.end())
    await other.query('SELECT pg_advisory_lock($1)', [purgeLock])
    assert.equal(await store.purge(), false)
    assert.equal(await store.useTokenId('id', store.now()), false)
    await other.query('SELECT pg_advisory_unlock($1)', [purgeLock])
    await store.purge()
    assert.equal(await store.useTokenId('id', store.now()), true)
  })
})

describe('merged requests', {skip: skipWithoutPostgres}, () => {
  it('get their own answers', async (t) => {
    const {stores} = await openTwo(t)
    const [store] = stores
    const keyed = (draft: object = {}) => store.deliver('', message({idempotency_key: 'key', ...draft}))
    const [first, again, other, fresh] = await Promise.allSettled([
      keyed(),
      keyed(),
      keyed({payload: 'other'}),
      store.deliver('', message({payload: 'a \u0000 b'})),
    ])
    assert.ok(first.status === 'fulfilled' && again.status === 'fulfilled' && fresh.status === 'fulfilled')
    assert.deepEqual(again.value, {...first.value, duplicate: true})
    assert.equal(other.status === 'rejected' && other.reason.code, 'idempotency_key_reused')
    const claims = await Promise.all(
      ['n1', 'n2', 'nobody', 'n1'].map((claimer) => store.claim('', {receiver: '2', claimer}).catch(({code}) => code)),
    )
    assert.deepEqual(
      claims.map((claim) => claim?.id ?? claim),
      [first.value.message_id, fresh.value.message_id, 'unknown_node', first.value.message_id],
    )
    assert.equal(claims[1].payload, 'a \u0000 b')
    const ack = (message: number, claimer: string) => endOf(store.ack('', {receiver: '2', message, claimer}))
    const {message_id: id} = first.value
    assert.deepEqual(
      await Promise.all([
        ack(fresh.value.message_id, 'n1'),
        ack(id, 'n2'),
        ack(99_999, 'n1'),
        ack(id, 'n1'),
        ack(id, 'n2'),
      ]),
      ['not_lease_holder', 'not_lease_holder', 'message_not_found', 'ok', 'ok'],
    )
  })

  it('fail alone if the server rejects one of them', async (t) => {
    const {stores} = await openTwo(t)
    const [store] = stores
    const drafts = Array.from({length: 20}, (_, i) =>
      message({payload: `${i}`, ...(i === 7 ? {model_id: 'a\u0000b'} : {})}),
    )
    const ends = await Promise.all(drafts.map((draft) => endOf(store.deliver('', draft))))
    assert.deepEqual(
      ends,
      drafts.map((_, i) => (i === 7 ? 'store_unavailable' : 'ok')),
    )
    assert.equal((await store.peek('', {receiver: '2', limit: 100})).length, 19)
  })

  it('have unknown outcomes together if their connection is lost, and can be repeated with their keys', async (t) => {
    const {url, stores} = await openTwo(t)
    const [store] = stores
    const admin = new pg.Client(url)
    await admin.connect()
    t.after(() => admin.end())
    const deliver = (key: number) => store.deliver('', message({idempotency_key: `${key}`}))
    await deliver(-1)
    await admin.query('BEGIN; SELECT FROM mesh_inboxes FOR UPDATE')
    const keys = Array.from({length: 40}, (_, key) => key)
    // The first request starts a batch of its own, and the others form the next one.
    const first = endOf(deliver(0))
    const blocked = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await until(async () => (await runSql(url, `SELECT pid ${blocked}`)).length === 1, 'the delivery waits')
    const others = keys.slice(1).map((key) => endOf(deliver(key)))
    await runSql(url, `SELECT pg_terminate_backend(pid) ${blocked}`)
    assert.equal(await first, 'store_outcome_unknown')
    await until(async () => (await runSql(url, `SELECT pid ${blocked}`)).length === 1, 'the next batch waits')
    await runSql(url, `SELECT pg_terminate_backend(pid) ${blocked}`)
    assert.deepEqual(new Set(await Promise.all(others)), new Set(['store_outcome_unknown']))
    await admin.query('ROLLBACK')
    const ids = await Promise.all(keys.map(async (key) => (await deliver(key)).message_id))
    assert.equal(new Set(ids).size, keys.length)
    assert.equal((await store.peek('', {receiver: '2', limit: 256})).length, keys.length + 1)
  })

  it('are answered in the order of their arrival, and do not hold up those of other kinds', async (t) => {
    const {stores} = await openTwo(t)
    const [store] = stores
    await store.deliver('', message())
    const answered: number[] = []
    const flood = Array.from({length: 2000}, (_, i) =>
      store.deliver('', message({payload: `${i}`})).then(() => answered.push(i)),
    )
    assert.ok((await store.claim('', {receiver: '2', claimer: 'n1'})) !== undefined)
    assert.ok(answered.length < flood.length, 'the claim did not wait for all deliveries')
    await Promise.all(flood)
    assert.deepEqual(
      answered,
      answered.toSorted((a, b) => a - b),
    )
  })

  it('do not deadlock with those of another store', async (t) => {
    const {url, stores} = await openTwo(t)
    const ids = await Promise.all(
      Array.from({length: 300}, async (_, i) => (await of(stores, i).deliver('', message())).message_id),
    )
    const orders = [ids, ids.toReversed()]
    await Promise.all(
      orders.flatMap((order, i) => order.map((message) => of(stores, i).ack('', {receiver: '2', message}))),
    )
    const [{deadlocks} = {}] = await runSql(
      url,
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    )
    assert.equal(deadlocks, 0)
    assert.equal((await stores[0].queueStats('')).pending_count, 0)
  })
})
