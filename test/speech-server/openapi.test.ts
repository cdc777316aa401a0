import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import {openContract} from '../support/openapi.js'
import {type Answer, type Client, speechSuite} from './support.js'

const contract = await openContract('codex-api.openapi')
const {document, operations, visit} = contract
const {start} = speechSuite()
let client: Client
let secured: Client
before(async () => {
  client = await start()
  secured = await start({token: 'sesame-sesame-sesame'})
})

const assertDocumented = (method: string, path: string, {status, headers, text}: Answer) =>
  contract.assertDocumented(method, path, {status, headers: Object.fromEntries(headers), text})

describe('the OpenAPI document of the speech server', () => {
  it('describes exactly the routes of the server', () => {
    assert.deepEqual(operations.map(({method, path}) => `${method} ${path}`).sort(), [...client.server.routes].sort())
  })

  it('has no dangling references and no unused components', () => {
    assert.deepEqual(contract.looseEnds(), {broken: [], unused: []})
  })

  it('has all schemas in its components', () => {
    visit({paths: document.paths, responses: document.components.responses}, (key, value) => {
      if (key === 'schema') assert.deepEqual(Object.keys(value), ['$ref'])
    })
  })

  for (const {method, path} of operations.filter(({path, method}) => !path.endsWith('stream') && method !== 'POST'))
    it(`describes the response to ${method} ${path}, with and without the token`, async () => {
      const answer = await client.send(path, {method})
      assert.equal(answer.status, 200)
      assertDocumented(method, path, answer)
      assertDocumented(method, path, await secured.send(path, {method}))
    })

  for (const [body, status] of [
    [{path: 'hello.wav', include_segments: true, debug_parser_payload: true, max_duration_ms: 60_000}, 200],
    [{path: 'hello.wav', inference_deadline_ms: 1}, 504],
    [{path: 'none.wav'}, 404],
    [{path: '../none.wav'}, 403],
    [{path: 7}, 400],
    [{path: 'x'.repeat(65 << 10)}, 413],
  ] as const)
    it(`describes the response to a request with status ${status}`, async () => {
      const answer = await client.post(body)
      assert.equal(answer.status, status)
      assertDocumented('POST', '/api/audio/transcribe', answer)
    })

  it('describes the responses to uploads', async () => {
    const path = '/api/audio/transcribe/upload'
    const text = await client.upload([{name: 'file', filename: 'note.txt', content: 'hello'}])
    assert.equal(text.status, 200)
    assertDocumented('POST', path, text)
    for (const content of ['{"a": 1}', new Uint8Array(2 << 20)])
      assertDocumented('POST', path, await client.upload([{name: 'file', content}]))
    assertDocumented('POST', path, await secured.upload([]))
  })

  it('describes the response to a stream request without an upgrade', async () => {
    const path = '/api/audio/transcribe/stream'
    assertDocumented('GET', path, await client.send(path))
  })
})
