import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {ControlPlaneContext} from '../../../src/mesh/control-plane/context.js'
import {writeNodeList} from '../../../src/mesh/control-plane/node-list.js'
import {PendingCounts} from '../../../src/mesh/control-plane/pending.js'
import {readNodeQuery} from '../../../src/mesh/protocol/node-query.js'
import {ask} from './support/ask.js'
import {type Plane, startPlane} from './support/control-plane.js'
import {message, record} from './support/samples.js'

interface Listed {
  id: string
}

const name = (i: number) => `node-${String(i).padStart(5, '0')}`

/** Adds nodes directly to the store. */
async function populate(plane: Plane, count: number): Promise<void> {
  for (let i = 0; i < count; i += 500) {
    const some = Array.from({length: Math.min(500, count - i)}, (_, j) => record(name(i + j)))
    await Promise.all(some.map((node) => plane.store.join('', node as never)))
  }
}

const list = (plane: Plane, query = '') => ask(plane, 'GET', '/v1/mesh/nodes', {query})
const idsOf = ({body}: {body: {nodes: Listed[]}}) => body.nodes.map(({id}) => id)

describe('node list', () => {
  it('contains every node once, ordered by id, with queue depth and server time', async (t) => {
    const plane = await startPlane(t)
    await populate(plane, 600)
    await ask(plane, 'POST', '/v1/mesh/a2a/deliver', {body: message()})
    const {body} = await list(plane)
    assert.deepEqual(
      idsOf({body}),
      Array.from({length: 600}, (_, i) => name(i)),
    )
    assert.deepEqual(
      [body.schema_version, body.queue_depth, body.truncated, body.next_cursor],
      [1, 1, undefined, undefined],
    )
    assert.ok(Math.abs(body.server_time_unix_ms - Date.now()) < 60_000)
  })

  it('is empty without nodes', async (t) => {
    const plane = await startPlane(t)
    assert.deepEqual((await list(plane)).body.nodes, [])
  })

  for (const limit of [1, 7, 250, 500, 501, 600, 601])
    it(`supports pages of ${limit}`, async (t) => {
      const plane = await startPlane(t)
      await populate(plane, limit === 1 ? 3 : 600)
      const ids: string[] = []
      let query = `limit=${limit}`
      for (;;) {
        const {body} = await list(plane, query)
        ids.push(...idsOf({body}))
        assert.ok(body.nodes.length <= limit)
        assert.equal(body.truncated === true, body.next_cursor !== undefined)
        if (body.next_cursor === undefined) break
        assert.equal(body.nodes.length, limit)
        query = `limit=${limit}&cursor=${body.next_cursor}`
      }
      assert.deepEqual(
        ids,
        Array.from({length: limit === 1 ? 3 : 600}, (_, i) => name(i)),
      )
    })

  it('contains up to 5,000 nodes and a cursor', async (t) => {
    const plane = await startPlane(t)
    await populate(plane, 5003)
    for (const query of ['', 'limit=99999']) {
      const first = await list(plane, query)
      assert.deepEqual([first.body.nodes.length, first.body.truncated], [5000, true])
      const rest = await list(plane, `cursor=${first.body.next_cursor}`)
      assert.deepEqual(idsOf(rest), [5000, 5001, 5002].map(name))
    }
  })

  it('has a limited size and a cursor, even with long records', async (t) => {
    const plane = await startPlane(t)
    const labels = Array.from({length: 60}, (_, i) => `${i}=${'ü'.repeat(200)}`)
    const count = 900
    for (let i = 0; i < count; i++) await plane.store.join('', record(name(i), {capabilities: {labels}}) as never)
    const ids: string[] = []
    let pages = 0
    for (let query = ''; ; ) {
      const {body} = await list(plane, query)
      assert.ok(Buffer.byteLength(JSON.stringify(body)) <= (8 << 20) + 1000)
      pages++
      ids.push(...idsOf({body}))
      assert.equal(body.truncated === true, body.next_cursor !== undefined)
      if (body.next_cursor === undefined) break
      query = `cursor=${body.next_cursor}`
    }
    assert.ok(pages >= 2, 'it is more than fits')
    assert.deepEqual(
      ids,
      Array.from({length: count}, (_, i) => name(i)),
    )
  })

  it('is written in slices that do not block the event loop', async (t) => {
    const plane = await startPlane(t)
    await populate(plane, 2000)
    let turn = 0
    let isOver = false
    const countTurns = () => {
      turn++
      if (!isOver) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    const turns: number[] = []
    const sizes: number[] = []
    const listNodes: Plane['store']['listNodes'] = async (...asked) => {
      const page = await plane.store.listNodes(...asked)
      turns.push(turn)
      sizes.push(page.records.length)
      return page
    }
    const store = {...plane.store, listNodes, now: plane.store.now}
    const context = {store, scope: '', pending: new PendingCounts(plane.store), stalePruneMs: 0, heartbeatsPerSec: 5000}
    const {body} = await writeNodeList(readNodeQuery({}), context as ControlPlaneContext)
    isOver = true
    assert.equal(JSON.parse(body.toString()).nodes.length, 2000)
    assert.ok(sizes.every((size) => size <= 500))
    assert.equal(new Set(turns).size, turns.length, 'no two slices in one turn')
  })

  it('uses smaller slices for long records', async (t) => {
    const plane = await startPlane(t)
    const labels = Array.from({length: 200}, (_, i) => `${i}=${'x'.repeat(200)}`)
    for (let i = 0; i < 300; i++) await plane.store.join('', record(name(i), {capabilities: {labels}}) as never)
    const sizes: number[] = []
    const listNodes: Plane['store']['listNodes'] = async (...asked) => {
      const page = await plane.store.listNodes(...asked)
      sizes.push(page.records.join('').length)
      return page
    }
    const store = {...plane.store, listNodes, now: plane.store.now}
    const context = {store, scope: '', pending: new PendingCounts(plane.store), stalePruneMs: 0, heartbeatsPerSec: 5000}
    await writeNodeList(readNodeQuery({}), context as ControlPlaneContext)
    assert.ok(Math.max(...sizes) < 3 << 20, `${sizes} characters`)
  })

  it('supports labels, updated_since_unix_ms and brief fields', async (t) => {
    let time = Date.now()
    const plane = await startPlane(t, {storeTime: () => time})
    const join = (id: string, labels: string[]) =>
      ask(plane, 'POST', '/v1/mesh/join', {body: record(id, {capabilities: {labels}})})
    await join('a', ['pool=train', 'zone=1'])
    await join('b', ['pool=train'])
    time += 20
    const {server_time_unix_ms: since} = (await list(plane)).body
    time += 20
    await join('c', ['zone=1'])
    for (const [query, ids] of [
      ['labels=pool=train', ['a', 'b']],
      ['labels=pool%3Dtrain,zone%3D1', ['a']],
      ['labels=pool=train&labels=zone=1', ['a']],
      [`updated_since_unix_ms=${since}`, ['c']],
      ['before_message_id=1', ['a', 'b', 'c']],
    ] as const)
      assert.deepEqual(idsOf(await list(plane, query)), ids, query)
    const [brief] = (await list(plane, 'fields=brief&limit=1')).body.nodes
    assert.deepEqual(Object.keys(brief).sort(), ['capabilities', 'id', 'last_seen_unix_ms', 'version'])
  })

  it('omits stale nodes without removing them', async (t) => {
    let time = Date.now()
    const plane = await startPlane(t, {stalePruneMs: 60_000, storeTime: () => time})
    await ask(plane, 'POST', '/v1/mesh/join', {body: record('n-1')})
    assert.deepEqual(idsOf(await list(plane)), ['n-1'])
    time += 60_001
    assert.deepEqual(idsOf(await list(plane)), [])
    await ask(plane, 'POST', '/v1/mesh/heartbeat', {body: {id: 'n-1'}})
    assert.deepEqual(idsOf(await list(plane)), ['n-1'])
  })

  describe('with an entity tag', () => {
    const nodes = '/v1/mesh/nodes'
    const tagged = (plane: Plane, etag: string, query = '') =>
      ask(plane, 'GET', nodes, {query, headers: {'if-none-match': etag}})

    it('is not sent again until it changes', async (t) => {
      const plane = await startPlane(t)
      await populate(plane, 3)
      const {headers} = await list(plane)
      const etag = String(headers.etag)
      assert.match(etag, /^W\/"[\w-]+"$/)
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const {status, text, headers: same} = await tagged(plane, known)
        assert.deepEqual([status, text, same.etag], [304, '', etag])
      }
      assert.equal((await tagged(plane, 'W/"other"')).status, 200)
      assert.equal((await tagged(plane, etag, 'fields=brief')).status, 200)
      await plane.store.heartbeat('', {facts: {id: name(1), cpu_usage_pct: 99}, isFull: false})
      const changed = await tagged(plane, etag)
      assert.equal(changed.status, 200)
      assert.notEqual(changed.headers.etag, etag)
      assert.match((await ask(plane, 'GET', '/metrics')).text, /\{operation="list_nodes",status="304"\} 4\n/)
    })

    it('does not change with the time', async (t) => {
      let now = Date.now()
      const plane = await startPlane(t, {storeTime: () => now})
      await populate(plane, 1)
      const first = await list(plane)
      now += 5000
      const later = await list(plane)
      assert.notEqual(later.body.server_time_unix_ms, first.body.server_time_unix_ms)
      assert.equal(later.headers.etag, first.headers.etag)
    })
  })

  it('is compressed if it is large and the client accepts it', async (t) => {
    const plane = await startPlane(t)
    await populate(plane, 100)
    const encoded = async (encoding: string, query = '') => {
      const options = {headers: {'accept-encoding': encoding}}
      const response = await fetch(`${plane.baseUrl}/v1/mesh/nodes?${query}`, options)
      const {nodes} = (await response.json()) as {nodes: Listed[]}
      assert.equal(response.headers.get('vary'), 'accept-encoding')
      return [response.headers.get('content-encoding'), nodes.length]
    }
    for (const encoding of ['gzip', 'br, GZIP;q=0.5']) assert.deepEqual(await encoded(encoding), ['gzip', 100])
    for (const encoding of ['identity', 'gzip;q=0', 'br, gzip; q=0.00', 'x-gzip'])
      assert.deepEqual(await encoded(encoding), [null, 100])
    assert.deepEqual(await encoded('gzip', 'limit=1'), [null, 1])
  })
})
