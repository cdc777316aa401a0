import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {MeshHttpError} from '../../../src/mesh/index.js'
import {sha256} from './support/every-operation.js'
import {problem, reply, scriptedControlPlane} from './support/scripted-control-plane.js'

const failure = async (work: Promise<unknown>): Promise<MeshHttpError> => {
  const error = await work.then(
    () => assert.fail('it must fail'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof MeshHttpError, String(error))
  return error
}

describe('files of the mesh client', () => {
  it('must have the requested digest', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => response.end('changed'))
    const error = await failure(plane.connect().getBlob(sha256))
    assert.deepEqual([error.kind, error.cause.code, error.isTransient], ['io', 'blob_damaged', true])
  })

  it('must not exceed the maximum size of a response', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => response.end('x'.repeat(101)))
    const error = await failure(plane.connect({maxAnswerBytes: 100}).getBlob(sha256))
    assert.deepEqual([error.kind, error.cause.code], ['io', 'response_too_large'])
  })

  it('are sent again after a transient error', async (t) => {
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      count % 2 === 1 ? problem(response, 503, 'overloaded') : reply(response, 200),
    )
    const client = plane.connect({random: () => 0})
    assert.equal(await client.putBlob(Buffer.alloc(0)), sha256)
    assert.equal((await client.getBlob(sha256)).length, 0)
    assert.equal(plane.asked.length, 4)
  })

  it('that do not exist, or that the control plane does not support, are reported', async (t) => {
    const plane = await scriptedControlPlane(t, (response, _asked, count) =>
      count === 1
        ? reply(response, 404)
        : problem(response, 404, count === 2 ? 'blob_not_found' : 'route_unknown', {detail: 'for the secret-token'}),
    )
    const client = plane.connect({tokens: {worker: 'secret-token'}})
    const missing: boolean[] = []
    for (let i = 0; i < 3; i++) {
      const error = await failure(client.getBlob(sha256))
      missing.push(error.isMissing)
      assert.doesNotMatch(`${error.message} ${error.bodySnippet}`, /secret-token/)
    }
    assert.deepEqual(missing, [true, true, false])
  })
})
