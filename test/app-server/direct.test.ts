import assert from 'node:assert/strict'
import {request} from 'node:http'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {type DbServer, serveDb} from '../support/db-server.js'
import {Driver} from '../support/sqlite.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'

const source = `@table type Task { title: str, n: int }
@endpoint(kind: query) fn one(id: Id[Task]) to Option[Task] { return db.Task.get(id) }
@endpoint(kind: query) fn at(i: int) to int { return [1, 2][i] }
@endpoint(kind: query) fn echo(text: str = "é") to str { return text }
@endpoint(kind: mutation) fn add(title: str, n: int) to Result[Id[Task]] {
    if n == 0 { return Error("zero") }
    return Ok(db.Task.insert({ title: title, n: n }))
}
@endpoint(kind: mutation) fn nothing() { print("nothing") }
`

/** An undefined Host header is not sent. */
type Headers = Readonly<Record<string, string | undefined>>

/** Requests that a route can answer without the framework, most of them wrong. */
const requests: readonly (readonly [
  method: string,
  path: string,
  body?: string | Buffer | undefined,
  headers?: Headers,
])[] = [
  ['GET', '/api/query/one?id=1'],
  ['GET', '/api/query/one?id=2'],
  ['GET', '/api/query/one'],
  ['GET', '/api/query/one?id=1&id=2'],
  ['GET', '/api/query/one?id=x&b=%zz&=&c'],
  ['GET', '/api/query/one?id=9007199254740993'],
  ['GET', '/api/query/at?i=-0'],
  ['GET', '/api/query/at?i=2'],
  ['GET', '/api/query/echo?'],
  ['GET', '/api/query/echo?text=%22a+b%20%C3%A9%22'],
  ['GET', '/api/query/echo?text=%22%FF%22'],
  ['GET', '/api/query/echo?text=%22;a=b%22'],
  ['GET', '/api/query/at?i=1', undefined, {'x-request-id': 'given'}],
  ['GET', '/api/query/at?i=1', undefined, {'x-request-id': 'not valid'}],
  ['GET', '/api/query/at?i=1', undefined, {authorization: 'Bearer wrong'}],
  ['GET', '/api/query/at?i=1', undefined, {host: 'example.com'}],
  ['GET', '/api/query/at?i=1', undefined, {host: undefined}],
  ['GET', '/api/query/at?i=1', undefined, {expect: 'anything'}],
  ['GET', '/api/query/at?i=1', undefined, {connection: 'upgrade', upgrade: 'h2c'}],
  ['HEAD', '/api/query/at?i=1'],
  ['POST', '/api/query/at', '{"i":1}'],
  ['POST', '/api/query/at?i=1', '{"i":1}'],
  ['POST', '/api/query/at?i=%FF', '{"i":1}'],
  ['POST', '/api/query/at', '{"i":1}', {'content-encoding': 'gzip'}],
  ['POST', '/api/query/at', '{"i":1}', {'content-encoding': 'identity'}],
  ['POST', '/api/query/at', '{"i":1}', {expect: '100-continue'}],
  ['POST', '/api/mutation/add', '{"title":"é","n":0}'],
  ['POST', '/api/mutation/add', '\ufeff{"title":"a","n":0}'],
  ['POST', '/api/mutation/add', '{"title":"a","title":"b"}'],
  ['POST', '/api/mutation/add', '{"title":1,"x":2}'],
  ['POST', '/api/mutation/add', '{"title":'],
  ['POST', '/api/mutation/add', '[]'],
  ['POST', '/api/mutation/add', Buffer.from([0x22, 0xff, 0x22])],
  ['POST', '/api/mutation/add', '{}', {'content-type': 'text/plain'}],
  ['POST', '/api/mutation/add', '{}', {'content-type': 'application/json; charset=utf-8'}],
  ['POST', '/api/mutation/add?n=1', '{"title":"a"}'],
  ['POST', '/api/mutation/add', ''],
  ['POST', '/api/mutation/add', `{"title":"${'x'.repeat(70_000)}","n":0}`],
  ['POST', '/api/mutation/add', `{"title":"${'x'.repeat(1 << 20)}","n":0}`],
  ['POST', '/api/mutation/nothing', '{}'],
]

describe('a route that is called without the framework', () => {
  let server: DbServer
  const folder = suiteFolder()
  const ends: (() => Promise<void>)[] = []
  after(() => Promise.all(ends.map((end) => end())))
  before(async () => {
    server = await serveDb({after: (end) => ends.push(end)}, folder, source, [], {SVC_APP_TOKEN: 'right'})
    await send('POST', '/api/mutation/add', '{"title":"first","n":1}')
  })

  const send = (method: string, path: string, body?: string | Buffer, headers: Headers = {}) =>
    new Promise<object>((resolve, reject) => {
      const sent = request(
        server.baseUrl + path,
        {
          method,
          setHost: !('host' in headers),
          headers: Object.fromEntries(
            Object.entries({
              authorization: 'Bearer right',
              ...(body === undefined
                ? {}
                : {'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body))}),
              ...headers,
            }).filter(([, value]) => value !== undefined),
          ) as Record<string, string>,
        },
        async (response) => {
          // The framework ends a connection after a body that it cannot read.
          const {date: _, connection: __, 'keep-alive': ___, 'x-request-id': id = '', ...others} = response.headers
          let text = ''
          for await (const chunk of response.setEncoding('utf8')) text += chunk
          // New ids differ.
          const isGiven = id === 'given'
          const shown = isGiven ? text : text.replaceAll(id as string, 'id')
          resolve({status: response.statusCode, isGiven, headers: others, text: shown})
        },
      )
      sent.once('error', reject)
      sent.end(body)
    })

  it('answers every request as the framework does', async () => {
    for (const [method, path, body, headers] of requests) {
      // Only the framework ignores a trailing slash.
      const [route = '', ...query] = path.split('?')
      const other = `${route}/${query.length === 0 ? '' : `?${query.join('?')}`}`
      const what = `${method} ${path} ${String(body).slice(0, 40)}`
      const direct = await send(method, path, body, headers)
      const usual = await send(method, other, body, headers)
      const same = (answer: object) => JSON.parse(JSON.stringify(answer).replaceAll(`${route}/`, route))
      assert.deepEqual(same(direct), same(usual), what)
    }
  })

  it('loses nothing that it has answered when it is killed', async (t) => {
    const own = await temporaryFolder(t)
    const killed = await serveDb(t, own, source)
    const answered: number[] = []
    const clients = Array.from({length: 8}, async () => {
      while (answered.length < 200) {
        const {status, json} = await killed.post('/api/mutation/add', {title: 'kept', n: 1})
        assert.equal(status, 200)
        if (answered.push(json as number) === 200) await killed.stop('SIGKILL')
      }
    })
    await Promise.allSettled(clients)
    assert.ok(answered.length >= 200)
    const database = new Driver(join(own, 'app.db'))
    t.after(() => database.close())
    const stored = new Set(database.prepare('SELECT _id FROM task').pluck().all().map(Number))
    assert.deepEqual(
      answered.filter((id) => !stored.has(id)),
      [],
    )
  })
})
