import assert from 'node:assert/strict'
import {once} from 'node:events'
import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import {describe, it, type TestContext} from 'node:test'
import type {Database} from 'better-sqlite3'
import {startAppServer} from '../../src/app-server/index.js'
import {checkProgram, migrate} from '../../src/lang/index.js'
import {Connection} from '../../src/lang/run/connection.js'
import {Driver} from '../support/sqlite.js'
import {temporaryFolder} from '../support/temporary.js'

const source = `@table type Row { n: int, text: str }
@index Row.by_n on (n)
/// Every row. It may be long.
@endpoint(kind: query) fn all() to List[Row] { return db.Row.all() }
@endpoint(kind: query) fn oneRow(id: int) to Option[Row] { return db.Row.get(id) }
@endpoint(kind: query) fn some_rows(n: int) to List[Row] { return db.Row.filter({ n: n }).limit(5) }
@endpoint(kind: query) fn sum() to int {
    let mut total = 0
    for row in db.Row.all() { total = total + row.n }
    print("summed")
    return total
}
@endpoint(kind: query) fn refuse() to Result[int] { return if db.Row.all().len() > 0 { Error("too many") } else { Ok(1) } }
@endpoint(kind: query) fn fail() to int { return if db.Row.all().len() > 0 { [1][5] } else { 1 } }
@endpoint(kind: mutation) fn add(n: int) to Id[Row] { return db.Row.insert({ n: n, text: "x" }) }
@endpoint(kind: server) fn add_free(n: int) to Id[Row] { return db.Row.insert({ n: n, text: "x" }) }
http get "/rows/{text}" to int { return db.Row.filter({ text: text }).count() }
`

/** A program served in this process, with the given number of rows. */
async function served(t: TestContext, rows: number, token?: string, more = '') {
  const path = join(await temporaryFolder(t), 'app.db')
  const program = checkProgram(source + more)
  assert.equal(program.hasErrors, false)
  await migrate(program, path)
  const database: Database = new Driver(path)
  t.after(() => database.close())
  database.exec(`INSERT INTO row (n, text) WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < ${rows})
    SELECT i, 'text of row ' || i FROM k`)
  const logged: string[] = []
  const ports = {env: {}, log: (_level: string, text: string) => logged.push(text)}
  const address = {host: '127.0.0.1', port: 0}
  const server = await startAppServer(program, {address, path, ports, token, title: 'rows'})
  t.after(() => server.close(1000))
  const ask = async (url: string, init?: RequestInit) => {
    const response = await fetch(server.baseUrl + url, init)
    const text = await response.text()
    return {status: response.status, json: text === '' ? undefined : JSON.parse(text)}
  }
  return {ask, database, logged, server}
}

const many = 20_000

describe('a request that reads many rows', () => {
  it('does not block other requests', async (t) => {
    const {ask} = await served(t, many)
    const ended: string[] = []
    const follow = async (name: string, url: string) => {
      const {json} = await ask(url)
      ended.push(name)
      return json
    }
    const [all, one] = await Promise.all([follow('all', '/api/query/all'), follow('one', '/api/query/oneRow?id=7')])
    assert.deepEqual(ended, ['one', 'all'])
    assert.deepEqual([all.length, all[6]], [many, one])
  })

  it('is answered like any other request', async (t) => {
    const {ask, logged} = await served(t, many)
    const few = await served(t, 20)
    for (const url of [
      '/api/query/all?x=1',
      '/api/query/refuse',
      '/api/query/fail',
      '/rows/x',
      '/api/query/some_rows?n=3',
      '/api/query/oneRow?id=99999999',
    ]) {
      const {status, json} = await ask(url)
      const same = await few.ask(url)
      const plain = (value: {request_id?: string} | undefined) => ({...value, request_id: undefined})
      assert.deepEqual([status, plain(json)], [same.status, plain(same.json)], url)
    }
    assert.deepEqual((await ask('/api/query/sum')).json, (many * (many + 1)) / 2)
    assert.deepEqual(logged, ['summed'])
  })

  it('sees earlier writes', async (t) => {
    const {ask} = await served(t, many)
    await ask('/api/query/sum')
    const {json: id} = await ask('/api/mutation/add', {
      method: 'POST',
      body: '{"n":1}',
      headers: {'content-type': 'application/json'},
    })
    const {json: rows} = await ask('/api/query/all')
    assert.equal(rows.at(-1)._id, id)
  })
})

describe('a lock of another process', () => {
  for (const [kind, url] of [
    ['mutation', '/api/mutation/add'],
    ['server', '/api/add_free'],
  ] as const)
    it(`delays a ${kind} endpoint while others are answered`, async (t) => {
      const {ask, database} = await served(t, 20)
      await ask('/api/query/oneRow?id=1')
      database.exec('BEGIN IMMEDIATE')
      let isDone = false
      const headers = {'content-type': 'application/json'}
      const write = ask(url, {method: 'POST', body: '{"n":1}', headers}).then((answer) => {
        isDone = true
        return answer
      })
      const {mock: begin} = t.mock.method(Connection.prototype, 'begin')
      const started = performance.now()
      const elapsedMs = () => performance.now() - started
      // Several retries for the lock; fewer on a slow machine, because the total wait is limited.
      for (let reads = 0; reads < 3 || elapsedMs() < 200; reads++) {
        assert.equal((await ask('/api/query/oneRow?id=1')).status, 200)
        await once(AbortSignal.timeout(10), 'abort')
      }
      assert.equal(isDone, false)
      // One attempt in 20 ms after the first ones; without pauses it would be one in each turn of the event loop.
      const count = begin.calls.filter(({arguments: [how]}) => how === 'immediate').length
      assert.ok(count > 1 && count <= elapsedMs() / 10 + 20, `${count} attempts in ${elapsedMs()} ms`)
      database.exec('COMMIT')
      assert.equal((await write).status, 200)
    })
})

describe('the OpenAPI document', () => {
  it('has a summary of every operation', async (t) => {
    const {ask} = await served(t, 0)
    const {paths, security, components} = (await ask('/_svc/openapi.json')).json
    const summaries = Object.values(paths as Record<string, Record<string, {summary: string}>>).flatMap((path) =>
      Object.values(path).map(({summary}) => summary),
    )
    assert.deepEqual(summaries, [
      'Every row.',
      'One row',
      'One row (arguments in the body)',
      'Some rows',
      'Some rows (arguments in the body)',
      'Sum',
      'Refuse',
      'Fail',
      'Add',
      'Add free',
      'GET /rows/{text}',
    ])
    assert.deepEqual([security, components.securitySchemes], [undefined, undefined])
  })

  it('declares the token that clients must send', async (t) => {
    const {ask} = await served(t, 0, 'sesame-sesame-sesame')
    assert.equal((await ask('/api/query/all')).status, 401)
    const {json} = await ask('/_svc/openapi.json', {headers: {authorization: 'Bearer sesame-sesame-sesame'}})
    assert.deepEqual(json.security, [{bearer: []}])
    assert.deepEqual(json.components.securitySchemes, {bearer: {type: 'http', scheme: 'bearer'}})
    for (const path of Object.values(json.paths as Record<string, Record<string, {responses: object}>>))
      for (const {responses} of Object.values(path)) assert.ok('401' in responses)
  })
})

describe('a program with a route at /_svc', () => {
  it('is served instead of the page', async (t) => {
    const {ask} = await served(t, 0, undefined, 'http get "/_svc" to str { return "mine" }\n')
    assert.deepEqual(
      [await ask('/_svc'), await ask('/_svc/')].map(({json}) => json),
      ['mine', 'mine'],
    )
    assert.equal((await ask('/_svc/openapi.json')).status, 200)
  })
})

describe('a path segment', () => {
  it('that is a parameter has a length limit, and is not repeated in the response', async (t) => {
    const {ask} = await served(t, 0)
    assert.equal((await ask(`/rows/${'x'.repeat(1024)}`)).status, 200)
    for (const path of ['x'.repeat(1025), `%zz${'x'.repeat(5000)}`]) {
      const {status, json} = await ask(`/rows/${path}`)
      assert.equal(status, 400)
      assert.doesNotMatch(json.message, /xxxx/)
    }
  })
})
