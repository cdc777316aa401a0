import assert from 'node:assert/strict'
import {request} from 'node:http'
import {after, before, describe, it} from 'node:test'
import {type DbServer, serveDb} from '../support/db-server.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {assertSelfContained} from '../support/web-page.js'

const source = `type Level =
    | Low
    | High(score: int)
@table type Task { title: str, level: Level, note: Option[str], n: int }
@endpoint(kind: query) fn search(text: str, limit: int = 5, level: Option[Level]) to List[str] { return ["" + limit] }
@endpoint(kind: query) fn at(i: int) to int { return [1, 2][i] }
@endpoint(kind: query) fn forever() to int {
    loop { }
    return 1
}
fn deep(n: int) to int { return deep(n + 1) }
@endpoint(kind: query) fn bottomless() to int { return deep(0) }
@endpoint(kind: mutation) fn add(title: str, level: Level, n: int = 1) to Id[Task] {
    return db.Task.insert({ title: title, level: level, n: n })
}
@endpoint(kind: query) fn all() to List[Task] { return db.Task.all() }
@endpoint(kind: server) fn hear(path: str) to Result[str] { return Speech.transcribe(path) }
http get "/hello/{name}" to str { return "hello " + name }
http post "/raw" to str { return request.text() }
http get "/price/{p}" (p: dec) to dec { return p }
type Given { p: Option[dec], b: Option[bytes], s: Option[str], n: Option[int], tags: Option[List[str]], prices: Option[Set[dec]], level: Option[Level] }
http get "/given" (p: Option[dec], b: Option[bytes], s: Option[str], n: Option[int], tags: Option[List[str]], prices: Option[Set[dec]], level: Option[Level]) to Given {
    return Given { p: p, b: b, s: s, n: n, tags: tags, prices: prices, level: level }
}
@endpoint(kind: mutation) fn endless(title: str) to float {
    db.Task.insert({ title: title, level: Low, n: 1 })
    let mut x = 2.0
    for i in range(0, 2000) { x = x * 2.0 }
    return x
}
@endpoint(kind: query) fn followed() to List[Task] { return db.Task.all().live("tasks") }
`

type Envelope = {ok: false; code: string; message: string; request_id: string; details: unknown}

describe('a served program', () => {
  let server: DbServer
  const folder = suiteFolder()
  const ends: (() => Promise<void>)[] = []
  const ending = {after: (end: () => Promise<void>) => ends.push(end)}
  after(() => Promise.all(ends.map((end) => end())))
  before(async () => {
    server = await serveDb(ending, folder, source)
  })
  const envelope = async (path: string) => (await server.get(path)) as {status: number; json: Envelope}

  it('reports every invalid parameter', async () => {
    const {status, json} = await envelope('/api/query/search?limit=1.5&x=1&limit2')
    assert.equal(status, 400)
    assert.equal(json.code, 'BAD_REQUEST')
    assert.deepEqual(json.details, [
      {param: 'text', code: 'missing', expected: 'str'},
      {param: 'limit', code: 'type', expected: 'int'},
      {param: 'x', code: 'unknown'},
      {param: 'limit2', code: 'unknown'},
    ])
  })

  it('rejects parameters in the query string of an endpoint that reads them from the body', async () => {
    for (const path of ['/api/mutation/add?draft=1', '/api/hear?draft=1']) {
      const {status, json} = await server.post(path, {title: 'a', level: {_tag: 'Low'}, path: ''})
      assert.deepEqual([path, status, (json as Envelope).code], [path, 400, 'BAD_REQUEST'])
      assert.deepEqual(((json as Envelope).details as unknown[]).at(-1), {param: 'draft', code: 'unknown'})
    }
  })

  it('accepts integers with a zero fraction, and rejects invalid JSON and duplicates', async () => {
    assert.equal((await server.get('/api/query/search?text=%22a%22&limit=2.0')).status, 200)
    assert.deepEqual((await envelope('/api/query/search?text=a')).json.details, [{param: 'text', code: 'invalid_json'}])
    assert.deepEqual((await envelope('/api/query/at?i=1&i=2')).json.details, [{param: 'i', code: 'duplicate'}])
  })

  it('accepts the arguments of a query in the body of a POST, too', async () => {
    const path = '/api/query/search'
    const text = 'x'.repeat(100_000)
    assert.deepEqual(await server.post(path, {text, limit: 7}), {status: 200, json: ['7']})
    for (const [url, body, details] of [
      [
        path,
        {limit: 'a'},
        [
          {param: 'text', code: 'missing', expected: 'str'},
          {param: 'limit', code: 'type', expected: 'int'},
        ],
      ],
      [
        `${path}?text=%22a%22`,
        '',
        [
          {param: 'text', code: 'missing', expected: 'str'},
          {param: 'text', code: 'unknown'},
        ],
      ],
    ] as const) {
      const {status, json} = await server.post(url, body)
      assert.deepEqual([status, (json as Envelope).details], [400, details])
    }
    const plain = await server.post(path, '{"text": "a"}', {'content-type': 'text/plain'})
    assert.equal(plain.status, 415)
  })

  it('returns only the reason of a failure', async () => {
    const {status, json} = await envelope('/api/query/at?i=2')
    assert.equal(status, 500)
    assert.equal(json.message, 'index 2 is out of range for length 2')
    assert.deepEqual(json.details, {reason: 'INDEX_OUT_OF_RANGE'})
    assert.equal((await server.get('/api/query/at?i=-1')).json, 2)
  })

  it('commits nothing if the result cannot be sent', async () => {
    const {status, json} = await server.post('/api/mutation/endless', {title: 'a'})
    assert.deepEqual([status, (json as Envelope).details], [500, {reason: 'NOT_STORABLE'}])
    assert.deepEqual((await server.get('/api/query/all')).json, [])
  })

  it('stops handlers that do not terminate', async () => {
    assert.deepEqual((await envelope('/api/query/forever')).json.details, {reason: 'STEP_LIMIT'})
    assert.deepEqual((await envelope('/api/query/bottomless')).json.details, {reason: 'STACK_LIMIT'})
  })

  it('accepts bodies with a JSON content type, up to 1 MiB', async () => {
    const plain = await server.post('/api/mutation/add', '{"title":"a"}', {'content-type': 'text/plain'})
    assert.deepEqual([plain.status, (plain.json as Envelope).code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
    const huge = await server.post('/api/mutation/add', {title: 'x'.repeat(1 << 20), level: {_tag: 'Low'}})
    assert.deepEqual([huge.status, (huge.json as Envelope).code], [413, 'PAYLOAD_TOO_LARGE'])
    const added = await server.post('/api/mutation/add', {title: 'a', level: {_tag: 'High', score: 3}})
    assert.equal(added.status, 200)
    const row = {_id: added.json, title: 'a', level: {_tag: 'High', score: 3}, n: 1}
    assert.deepEqual((await server.get('/api/query/all')).json, [row])
  })

  for (const [what, path, init, status, message] of [
    ['an undecodable query', '/given?s=%ff', {}, 400, 'the query string cannot be decoded'],
    ['an undecodable argument', '/api/query/search?text=%22%ff%22', {}, 400, 'the query string cannot be decoded'],
    ['a misspelled position', '/api/live/tasks?after=3', {}, 400, 'unknown parameter after; use after_id'],
    [
      'a compressed body',
      '/api/hear',
      {
        method: 'POST',
        body: '{"path":"a"}',
        headers: {'content-type': 'application/json', 'content-encoding': 'gzip'},
      },
      415,
      'The request body is encoded with gzip.',
    ],
  ] as const)
    it(`rejects ${what}`, async () => {
      const response = await fetch(server.baseUrl + path, init)
      const json = (await response.json()) as Envelope
      assert.deepEqual([response.status, json.message, json.ok], [status, message, false])
    })

  it('forwards or generates a request id', async () => {
    const response = await fetch(`${server.baseUrl}/api/query/nope`, {headers: {'x-request-id': 'mine-1'}})
    assert.equal(response.headers.get('x-request-id'), 'mine-1')
    assert.equal(((await response.json()) as Envelope).request_id, 'mine-1')
    const made = await fetch(`${server.baseUrl}/api/query/all`)
    assert.match(made.headers.get('x-request-id') ?? '', /^[\w-]{16,}$/)
    assert.equal(made.headers.get('cache-control'), 'no-store')
  })

  it('returns 422 for a missing recording, and never reads outside the workspace', async () => {
    const outside = await server.post('/api/hear', {path: '../../etc/passwd'})
    assert.deepEqual([outside.status, (outside.json as Envelope).code], [422, 'DOMAIN_ERROR'])
    assert.match((outside.json as Envelope).message, /outside/)
    assert.match(((await server.post('/api/hear', {path: 'no.wav'})).json as Envelope).message, /not found/)
  })

  it('serves declared routes with path parameters', async () => {
    assert.equal((await server.get('/hello/Ann%20B')).json, 'hello Ann B')
    assert.equal((await server.post('/raw', '{"a": 1}')).json, '{"a": 1}')
  })

  for (const [query, expected] of [
    ['p=1.50&b=1234&n=7', {p: '1.50', b: '1234', n: 7}],
    ['p=%221.50%22&s=%22a%22', {p: '1.50', s: 'a'}],
    ['s=null&n=null', {s: 'null'}],
    ['s=12&tags=12', {s: '12', tags: ['12']}],
    ['tags=a&tags=null&prices=1.0&prices=1.00&prices=2', {tags: ['a', 'null'], prices: ['1.0', '2']}],
    ['tags=%5B%22a%22%5D&level=%7B%22_tag%22%3A%22Low%22%7D', {tags: ['a'], level: {_tag: 'Low'}}],
    ['prices=1&prices=x', [{param: 'prices', code: 'type', expected: 'Option[Set[dec]]'}]],
    ['p=1&p=2', [{param: 'p', code: 'duplicate'}]],
    ['b=1', [{param: 'b', code: 'type', expected: 'Option[bytes]'}]],
  ] as const)
    it(`reads the parameters of a route by their declared type: ${query}`, async () => {
      const {status, json} = await server.get(`/given?${query}`)
      assert.deepEqual(
        [status, status === 200 ? json : (json as Envelope).details],
        [Array.isArray(expected) ? 400 : 200, expected],
      )
    })

  it('reads a decimal number in a path as text, and documents the forms of parameters', async () => {
    assert.equal((await server.get('/price/1.50')).json, '1.50')
    const {json} = await server.get('/_svc/openapi.json')
    const {paths} = json as {paths: Record<string, {get: {parameters: {name: string; schema?: {type: string}}[]}}>}
    const forms = paths['/given']?.get.parameters.map(({name, schema}) => [name, schema?.type ?? 'JSON'])
    const [p, b, s, n, tags, prices, level] = ['string', 'string', 'string', 'integer', 'array', 'array', 'JSON']
    assert.deepEqual(Object.fromEntries(forms ?? []), {p, b, s, n, tags, prices, level})
  })

  for (const path of ['/api/query/all', '/given', '/api/live/tasks', '/_svc/'])
    it(`answers HEAD like GET, without a body: ${path}`, async () => {
      const response = await fetch(server.baseUrl + path, {method: 'HEAD'})
      assert.deepEqual([response.status, await response.text()], [200, ''])
      const got = await fetch(server.baseUrl + path)
      await got.body?.cancel()
      assert.equal(response.headers.get('content-type'), got.headers.get('content-type'))
    })

  it('rejects requests for another host (DNS rebinding)', async () => {
    const {port} = new URL(server.baseUrl)
    const status = await new Promise((resolve) =>
      request({port, host: '127.0.0.1', path: '/api/query/all', headers: {host: 'evil.example'}}, (response) =>
        resolve(response.resume().statusCode),
      ).end(),
    )
    assert.equal(status, 403)
  })

  it('serves its description under /_svc/', async () => {
    const {json} = (await server.get('/_svc/openapi.json')) as {json: {openapi: string; paths: object}}
    assert.equal(json.openapi, '3.1.0')
    assert.deepEqual(Object.keys(json.paths).slice(0, 2), ['/api/query/search', '/api/query/at'])
    const page = await fetch(`${server.baseUrl}/_svc/`)
    assertSelfContained(await page.text(), page.headers.get('content-security-policy') ?? '')
    assert.deepEqual(await server.get('/health'), {status: 200, json: {status: 'ok'}})
  })
})

describe('a server with a token', () => {
  it('accepts only requests with the token', async (t) => {
    const server = await serveDb(t, await temporaryFolder(t), source, [], {SVC_APP_TOKEN: 'secret-1'})
    for (const path of ['/api/query/all', '/api/live/tasks', '/_svc/openapi.json', '/nothing'])
      assert.equal((await server.get(path)).status, 401, path)
    // A browser cannot send a token when it opens a page; the page asks for it.
    assert.match(await (await fetch(`${server.baseUrl}/_svc/`)).text(), /Bearer token/)
    assert.equal((await server.get('/health')).status, 200)
    const known = await fetch(`${server.baseUrl}/api/query/all`, {headers: {authorization: 'Bearer secret-1'}})
    assert.equal(known.status, 200)
  })
})
