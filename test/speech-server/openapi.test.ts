import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {before, describe, it} from 'node:test'
import {audioFields} from '../../src/speech-server/index.js'
import {openContract} from '../support/openapi.js'
import {type Answer, type Client, hello, speechSuite} from './support.js'

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
    assert.deepEqual(
      operations.map(({method, path}) => `${method} ${path}`).sort(),
      client.server.routes.map((route) => route.replace(/:(\w+)/, '{$1}')).sort(),
    )
  })

  it('has no dangling references and no unused components', () => {
    assert.deepEqual(contract.looseEnds(), {broken: [], unused: []})
  })

  it('has every field of a form, and no other', () => {
    const {schemas} = document.components as {schemas: Record<string, {properties: object}>}
    for (const name of ['TranscriptionForm', 'TranslationForm'])
      assert.deepEqual(Object.keys(schemas[name]?.properties ?? {}).sort(), ['file', ...audioFields].sort())
  })

  it('has all schemas in its components', () => {
    visit({paths: document.paths, responses: document.components.responses}, (key, value) => {
      if (key === 'schema') assert.deepEqual(Object.keys(value), ['$ref'])
    })
  })

  for (const {method, path} of operations.filter(
    ({path, method}) => !/stream$|realtime$/.test(path) && method !== 'POST',
  ))
    it(`describes the response to ${method} ${path}, with and without the token`, async () => {
      const url = path.replace('{id}', 'starter')
      const answer = await client.send(url, {method})
      assert.equal(answer.status, 200)
      assertDocumented(method, path, answer)
      assertDocumented(method, path, await secured.send(url, {method}))
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

  describe('describes the responses of the OpenAI API', () => {
    const path = '/v1/audio/transcriptions'
    const ask = async (fields: Record<string, string>, from = client) =>
      from.upload(
        [
          {name: 'file', filename: 'hello.wav', content: await readFile(hello)},
          ...Object.entries(fields).map(([name, content]) => ({name, content})),
        ],
        {},
        path,
      )

    for (const fields of [
      {},
      {response_format: 'text'},
      {response_format: 'srt'},
      {response_format: 'vtt'},
      {response_format: 'verbose_json'},
      {response_format: 'verbose_json', 'timestamp_granularities[]': 'word'},
      {stream: 'true'},
    ])
      it(`to ${JSON.stringify(fields)}`, async () => {
        const answer = await ask(fields)
        assert.equal(answer.status, 200)
        assertDocumented('POST', path, answer)
      })

    it('to refused requests', async () => {
      for (const [fields, status] of [
        [{temperature: '2'}, 400],
        [{model: 'gpt-4'}, 404],
      ] as const) {
        const answer = await ask(fields)
        assert.equal(answer.status, status)
        assertDocumented('POST', path, answer)
      }
      assertDocumented('POST', path, await ask({}, secured))
      assertDocumented('POST', '/v1/audio/translations', await client.upload([], {}, '/v1/audio/translations'))
      assertDocumented('GET', '/v1/models/{id}', await client.send('/v1/models/gpt-4'))
    })
  })

  it('describes the response to a stream request without an upgrade', async () => {
    const path = '/api/audio/transcribe/stream'
    assertDocumented('GET', path, await client.send(path))
  })
})
