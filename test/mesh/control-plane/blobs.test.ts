import assert from 'node:assert/strict'
import {createHash, randomBytes} from 'node:crypto'
import {type ClientRequest, request} from 'node:http'
import {describe, it} from 'node:test'
import {createMeshClient, type MeshClientOptions, MeshHttpError, maxBlobBytes} from '../../../src/mesh/index.js'
import {temporaryFolder} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {ask} from './support/ask.js'
import {lifeOfSuite, type Plane, startPlane} from './support/control-plane.js'
import {secrets, tokenOf} from './support/tokens.js'

const suite = lifeOfSuite()
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const pathOf = (bytes: Buffer) => `/v1/mesh/blobs/sha256/${sha256Of(bytes)}`
const type = {'content-type': 'application/octet-stream'}

function connect({baseUrl}: Plane, options: Partial<MeshClientOptions> = {}) {
  const client = createMeshClient({baseUrl, tokens: {worker: tokenOf.worker}, ...options})
  suite.after(() => client.close())
  return client
}

/** Asserts that a request fails with a status and the code of its cause. */
const refused = (work: Promise<unknown>, status: number, code: string) =>
  assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof MeshHttpError, String(error))
    assert.deepEqual([error.status, error.cause.code], [status, code])
    return true
  })

describe('files on a control plane', () => {
  it('are moved between clients of any role', async (t) => {
    const plane = await startPlane(t, {secrets})
    for (const role of ['worker', 'submitter', 'mesh', 'admin'] as const) {
      const bytes = randomBytes(100_000)
      const sha256 = await connect(plane, {tokens: {[role]: tokenOf[role]}}).putBlob(bytes)
      assert.equal(sha256, sha256Of(bytes))
      for (const other of ['worker', 'submitter'] as const)
        assert.deepEqual(await connect(plane, {tokens: {[other]: tokenOf[other]}}).getBlob(sha256), bytes)
    }
  })

  it('may be empty, and have at most 8 MiB', async (t) => {
    const plane = await startPlane(t, {secrets})
    const client = connect(plane)
    for (const size of [0, maxBlobBytes]) {
      const bytes = randomBytes(size)
      assert.deepEqual(await client.getBlob(await client.putBlob(bytes)), bytes)
    }
    const large = randomBytes(maxBlobBytes + 1)
    await refused(client.putBlob(large), 413, 'body_too_large')
    const {body} = await ask(plane, 'PUT', pathOf(large), {token: tokenOf.worker, headers: type, length: large.length})
    assert.match(body.detail, /8 MiB/)
    await refused(client.getBlob(sha256Of(large)), 404, 'blob_not_found')
  })

  it('are not stored if their digest is wrong', async (t) => {
    const plane = await startPlane(t, {secrets})
    const [sent, named] = [Buffer.from('sent'), Buffer.from('named')]
    const {status} = await ask(plane, 'PUT', pathOf(named), {token: tokenOf.worker, headers: type, body: sent})
    assert.equal(status, 422)
    for (const bytes of [sent, named]) await refused(connect(plane).getBlob(sha256Of(bytes)), 404, 'blob_not_found')
  })

  it('of another scope are not found', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await startPlane(t, {secrets, scope: 'scope-a1', folder})
    const sha256 = await connect(first).putBlob(Buffer.from('mine'))
    await first.close(0)
    const second = await startPlane(t, {secrets, scope: 'scope-b2', folder})
    await refused(connect(second).getBlob(sha256), 404, 'blob_not_found')
  })

  it('are refused if the scope is full', async (t) => {
    const plane = await startPlane(t, {secrets, limits: {maxScopeBlobBytes: 4096}})
    const client = connect(plane)
    const bytes = randomBytes(4096)
    await client.putBlob(bytes)
    await refused(client.putBlob(randomBytes(1)), 507, 'blobs_full')
    await client.putBlob(bytes)
  })

  it('do not raise the size limit of other requests, or their content types', async (t) => {
    const plane = await startPlane(t, {secrets})
    const path = '/v1/mesh/join'
    assert.equal((await ask(plane, 'POST', path, {token: tokenOf.worker, length: 524_289})).status, 413)
    const octets = {token: tokenOf.worker, headers: type, body: Buffer.from('{}')}
    assert.equal((await ask(plane, 'POST', path, octets)).status, 415)
  })

  it('are limited to 16 concurrent transfers', async (t) => {
    const plane = await startPlane(t, {secrets})
    const client = connect(plane, {retry: false})
    const bytes = Buffer.from('some file')
    const sha256 = await client.putBlob(bytes)
    const uploads: ClientRequest[] = []
    for (let i = 0; i < 16; i++) {
      const headers = {...type, authorization: `Bearer ${tokenOf.worker}`, 'content-length': '9'}
      const upload = request(`${plane.baseUrl}${pathOf(bytes)}`, {method: 'PUT', agent: false, headers})
      uploads.push(upload.on('error', () => undefined))
      upload.flushHeaders()
    }
    const isOpen = () =>
      client.getBlob(sha256).then(
        () => true,
        (error: MeshHttpError) => {
          assert.equal(error.cause.code, 'overloaded')
          return false
        },
      )
    await until(async () => !(await isOpen()), 'a refused transfer')
    assert.equal((await ask(plane, 'GET', pathOf(bytes), {token: 'unknown'})).status, 401)
    for (const upload of uploads) upload.destroy()
    await until(isOpen, 'a transfer after the end of the others')
  })
})
