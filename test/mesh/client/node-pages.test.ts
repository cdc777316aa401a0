import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {gzipSync} from 'node:zlib'
import {createMeshClient, MeshHttpError} from '../../../src/mesh/index.js'
import {startPlane} from '../control-plane/support/control-plane.js'
import {record} from '../control-plane/support/samples.js'
import {reply, scriptedControlPlane} from './support/scripted-control-plane.js'

const registry = (id: string, time?: number) => ({nodes: [{id}], server_time_unix_ms: time})

describe('the node list of a client', () => {
  it('is requested with the last entity tag of the same query', async (t) => {
    const plane = await scriptedControlPlane(t, (response, {query, headers}) =>
      headers['if-none-match'] === `W/"${query}"`
        ? reply(response, 304)
        : reply(response, 200, registry(query, 1000), {etag: `W/"${query}"`}),
    )
    const client = plane.connect()
    for (const limit of [1, 2, 1, 2]) {
      const {nodes, server_time_unix_ms: time = 0} = await client.listNodes({limit})
      assert.deepEqual(nodes, [{id: `limit=${limit}`}])
      assert.ok(time >= 1000)
    }
    const tags = plane.asked.map(({headers}) => headers['if-none-match'])
    assert.deepEqual(tags, [undefined, undefined, 'W/"limit=1"', 'W/"limit=2"'])
    assert.ok(plane.asked.every(({headers}) => headers['accept-encoding'] === 'gzip'))
  })

  it('is replaced when it changes, and kept after an error', async (t) => {
    const replies = [
      [200, 'a'],
      [503, ''],
      [304, ''],
      [200, 'b'],
      [304, ''],
    ] as const
    const plane = await scriptedControlPlane(t, (response, _asked, count) => {
      const [status, id] = replies[count - 1] ?? [500, '']
      return reply(response, status, status === 200 ? registry(id) : undefined, {etag: `W/"${id}"`})
    })
    const client = plane.connect({retry: false})
    const listed: string[] = []
    for (const _ of replies)
      listed.push(
        await client.listNodes().then(
          ({nodes}) => nodes[0]?.id ?? '',
          (error: MeshHttpError) => `${error.status}`,
        ),
      )
    assert.deepEqual(listed, ['a', '503', 'a', 'b', 'b'])
  })

  it('is an error if it is unknown to the client and not sent', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => reply(response, 304))
    await assert.rejects(plane.connect().listNodes(), (error) => error instanceof MeshHttpError && error.status === 304)
  })

  it('is decompressed', async (t) => {
    const plane = await startPlane(t)
    for (let i = 0; i < 200; i++) await plane.store.join('', record(`node-${i}`) as never)
    const client = createMeshClient({baseUrl: plane.baseUrl, tokens: {}})
    t.after(() => client.close())
    for (const _ of [1, 2]) assert.equal((await client.listNodes()).nodes.length, 200)
    await plane.store.leave('', 'node-7')
    assert.equal((await client.listNodes()).nodes.length, 199)
  })

  it('is refused if it is damaged, cut off or too large after decompression', async (t) => {
    const [small, large] = [100, 100_000].map((length) => gzipSync(JSON.stringify(registry('x'.repeat(length)))))
    const bodies = [Buffer.from('no gzip'), small?.subarray(0, -20), large]
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      response.writeHead(200, {'content-encoding': 'gzip'}).end(bodies[count - 1]),
    )
    const client = plane.connect({retry: false, maxAnswerBytes: 50_000})
    for (const code of ['unreachable', 'unreachable', 'response_too_large'])
      await assert.rejects(client.listNodes(), (error) => {
        assert.ok(error instanceof MeshHttpError)
        assert.equal(error.cause.code, code, error.message)
        return true
      })
  })
})
