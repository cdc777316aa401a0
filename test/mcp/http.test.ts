import assert from 'node:assert/strict'
import {request as httpRequest} from 'node:http'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {until} from '../support/orch-workspace.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {initialize, once, startHttp, workspace} from './support.js'

const token = 'a-token-of-the-tests'

interface Reply {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  json(): {error?: {code: number; message: string; data?: {code: string; remediation?: string}}; result?: unknown}
}

interface Sent {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

/** Sends a raw request with any headers, which fetch does not permit. */
function send(url: URL, {method = 'POST', headers = {}, body}: Sent = {}): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        headers: {'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers},
      },
      (response) => {
        let received = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          received += chunk
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            json: () => JSON.parse(/^data: (\{.*)$/m.exec(received)?.[1] ?? received),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end(text)
  })
}

/** Starts a session and returns the headers of its requests. */
async function begin(url: URL, headers: Readonly<Record<string, string>> = {}) {
  const {status, headers: answered} = await send(url, {headers, body: initialize()})
  assert.equal(status, 200)
  return {...headers, 'mcp-session-id': String(answered['mcp-session-id']), 'mcp-protocol-version': '2025-11-25'}
}

const ping = {jsonrpc: '2.0', id: 9, method: 'ping'}

describe('svc mcp serve --http', {concurrency: 2}, () => {
  /** Shared server for tests without settings of their own. */
  const server = once(async (test) => startHttp(test, {cwd: await workspace(test)}))

  it('prints its address, answers health checks and exits with status 0 on SIGTERM', async (t) => {
    const {url, stop, stderr, connect} = await startHttp(t, {cwd: await workspace(t)})
    const health = await fetch(new URL('/health', url))
    assert.deepEqual([health.status, await health.json()], [200, {status: 'ok'}])
    assert.match(stderr(), new RegExp(`Serving the tools of .* at ${url.href}`))
    const {call} = await connect()
    await call('svc_orchestrator_status')
    assert.equal(await stop('SIGTERM'), 0)
  })

  for (const [what, headers] of [
    ['a foreign Host', {host: 'evil.example.com'}],
    ['a Host that only starts with a loopback address', {host: '127.0.0.1.evil.example.com'}],
    ['a foreign Origin', {origin: 'https://evil.example.com'}],
    ['an Origin that only starts with localhost', {origin: 'http://localhost.evil.example.com'}],
    ['the Origin null', {origin: 'null'}],
    ['a file Origin', {origin: 'file:///tmp/x.html'}],
  ] as const)
    it(`rejects ${what}`, async () => {
      const {url} = await server()
      const {status, json} = await send(url, {headers, body: initialize()})
      assert.equal(status, 403)
      assert.match(json().error?.data?.code ?? '', /^(host_forbidden|origin_denied)$/)
      assert.deepEqual(Object.keys(json()).sort(), ['error', 'id', 'jsonrpc'])
      if ('host' in headers) assert.match(json().error?.data?.remediation ?? '', /--allow-remote/)
    })

  it('accepts pages of this machine', async () => {
    const {url} = await server()
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:1', 'https://[::1]:8443']) {
      const asked = await send(url, {method: 'OPTIONS', headers: {origin}})
      assert.deepEqual([asked.status, asked.headers['access-control-allow-origin']], [204, origin])
      const {status, headers} = await send(url, {headers: {origin}, body: initialize()})
      assert.deepEqual([status, headers['access-control-allow-origin']], [200, origin])
      assert.match(String(headers['access-control-expose-headers']), /mcp-session-id/)
    }
  })

  it('requires the configured token and never prints it', async (t) => {
    const env = {SVC_MCP_HTTP_BEARER_TOKEN: token, SVC_LOG: 'debug'}
    const cwd = await workspace(t)
    const {url, connect, stderr} = await startHttp(t, {cwd, env})
    for (const headers of [{}, {authorization: 'Bearer wrong'}, {authorization: token}]) {
      const {status, headers: answered, json} = await send(url, {headers, body: initialize()})
      assert.deepEqual([status, answered['www-authenticate']], [401, 'Bearer'])
      assert.equal(json().error?.data?.code, 'unauthorized')
    }
    assert.equal((await fetch(new URL('/health', url))).status, 200)
    const {call} = await connect({}, {requestInit: {headers: {authorization: `Bearer ${token}`}}})
    await call('svc_orchestrator_status')
    assert.ok(!stderr().includes(token))
    const {stdout} = await svcInTurn(['config', 'show', '--json'], {cwd, env})
    assert.ok(!stdout.includes(token))
  })

  it('binds to other addresses only with a token and --allow-remote', async (t) => {
    const cwd = await workspace(t)
    const remote = ['mcp', 'serve', '--http', '0.0.0.0:0']
    for (const [args, env] of [
      [[], {}],
      [['--allow-remote'], {}],
      [[], {SVC_MCP_HTTP_BEARER_TOKEN: token}],
      [['--allow-remote'], {SVC_MCP_HTTP_BEARER_TOKEN: 'fifteen-letters'}],
    ] as [string[], Record<string, string>][]) {
      const {exitCode, stderr} = await svcInTurn([...remote, ...args], {cwd, env})
      assert.equal(exitCode, 2)
      assert.match(stderr, /\(remote_bind_refused\)/)
    }
    const env = {SVC_MCP_HTTP_BEARER_TOKEN: token}
    const open = await startHttp(t, {cwd, args: ['--http', '0.0.0.0:0', '--allow-remote'], env})
    assert.match(open.stderr(), /warning: Connections to 0\.0\.0\.0 are not encrypted\./)
    for (const wrong of ['', 'x', '70000', '127.0.0.1:', '1:2:3'])
      assert.equal((await svcInTurn(['mcp', 'serve', '--http', wrong], {cwd})).exitCode, 2, wrong)
  })

  it('isolates sessions and finds each by its id', async () => {
    const {url} = await server()
    const [first, second] = [await begin(url), await begin(url)]
    assert.notEqual(first['mcp-session-id'], second['mcp-session-id'])
    for (const headers of [first, second]) assert.equal((await send(url, {headers, body: ping})).status, 200)
    const none = await send(url, {body: ping})
    assert.deepEqual([none.status, none.json().error?.data?.code], [400, 'mcp_session_missing'])
    const unknown = await send(url, {headers: {'mcp-session-id': 'x'}, body: ping})
    assert.deepEqual([unknown.status, unknown.json().error?.data?.code], [404, 'mcp_session_not_found'])
    assert.equal((await send(url, {method: 'DELETE', headers: first})).status, 200)
    assert.equal((await send(url, {headers: first, body: ping})).status, 404)
    assert.equal((await send(url, {headers: second, body: ping})).status, 200)
    const put = await send(url, {method: 'PUT', headers: second, body: ping})
    assert.deepEqual([put.status, put.headers.allow], [405, 'DELETE, GET, OPTIONS, POST'])
  })

  it('closes the longest idle session when the session limit is reached', async (t) => {
    const {url} = await startHttp(t, {cwd: await workspace(t), env: {SVC_MCP_HTTP_MAX_SESSIONS: '2'}})
    const first = await begin(url)
    await sleep(10)
    const second = await begin(url)
    const third = await begin(url)
    const statuses = await Promise.all(
      [first, second, third].map(async (headers) => (await send(url, {headers, body: ping})).status),
    )
    assert.deepEqual(statuses, [404, 200, 200])
    const streams = await Promise.all(
      [second, third].map((headers) =>
        fetch(url, {headers: {...headers, accept: 'text/event-stream'}, signal: t.signal}),
      ),
    )
    const full = await send(url, {body: initialize()})
    assert.deepEqual([full.status, full.json().error?.data?.code], [503, 'mcp_sessions_full'])
    assert.ok(full.headers['retry-after'])
    for (const {body} of streams) await body?.cancel()
    await until(async () => (await send(url, {body: initialize()})).status === 200, 'there is room again')
  })

  it('closes idle sessions after the timeout unless a stream is open', async (t) => {
    const idleMs = 300
    const env = {SVC_MCP_HTTP_SESSION_IDLE_MS: String(idleMs)}
    const {url} = await startHttp(t, {cwd: await workspace(t), env})
    const openStream = (headers: object) =>
      fetch(url, {headers: {...headers, accept: 'text/event-stream'}, signal: t.signal})
    // On a busy machine a session may expire before its stream opens.
    let open = await begin(url)
    let stream = await openStream(open)
    for (; stream.status === 404; stream = await openStream(open)) open = await begin(url)
    assert.equal(stream.status, 200)
    const idle = await begin(url)
    // Each request resets the idle time, so the next one must wait until the session can have expired.
    await until(async () => {
      await sleep(2 * idleMs)
      return (await send(url, {headers: idle, body: ping})).status === 404
    }, 'the idle session has ended')
    assert.equal((await send(url, {headers: open, body: ping})).status, 200)
    await stream.body?.cancel()
  })

  it('limits the request rate of a client and exits with status 0 on SIGINT', async (t) => {
    const {url, stop} = await startHttp(t, {cwd: await workspace(t), env: {SVC_MCP_HTTP_RATE_LIMIT_PER_MINUTE: '5'}})
    const headers = await begin(url)
    const replies = await Promise.all(Array.from({length: 20}, () => send(url, {headers, body: ping})))
    // One request has begun the session; on a slow machine, another one is admitted every 12 s.
    const count = (status: number) => replies.filter((reply) => reply.status === status).length
    assert.ok(count(200) >= 4 && count(429) > 0, `${replies.map(({status}) => status)}`)
    assert.equal(count(200) + count(429), 20)
    assert.ok(Number(replies.find(({status}) => status === 429)?.headers['retry-after']) > 0)
    assert.equal((await fetch(new URL('/health', url))).status, 200)
    assert.equal(await stop('SIGINT'), 0)
  })

  it('does not limit requests if the limit is 0', async (t) => {
    const {url} = await startHttp(t, {cwd: await workspace(t), env: {SVC_MCP_HTTP_RATE_LIMIT_PER_MINUTE: '0'}})
    const headers = await begin(url)
    for (let i = 0; i < 20; i++) assert.equal((await send(url, {headers, body: ping})).status, 200)
  })

  for (const [what, body, length, status, code] of [
    ['invalid JSON', '{"jsonrpc":', 11, 400, -32700],
    ['rounded', '{"a": 9007199254740993}', 23, 400, -32600],
    ['too large', '{"jsonrpc":', 5 << 20, 413, -32000],
  ] as const)
    it(`rejects a body that is ${what}`, async () => {
      const {url} = await server()
      const headers = {...(await begin(url)), 'content-length': String(length)}
      const reply = await send(url, {headers, body})
      assert.deepEqual([reply.status, reply.json().error?.code], [status, code])
    })

  it('replays missed messages to a client that reconnects', async (t) => {
    const {url} = await server()
    const headers = await begin(url)
    await send(url, {headers, body: {jsonrpc: '2.0', method: 'notifications/initialized'}})
    const body = {jsonrpc: '2.0', id: 5, method: 'tools/call', params: {name: 'svc_orchestrator_status', arguments: {}}}
    const broken = await fetch(url, {
      method: 'POST',
      headers: {...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream'},
      body: JSON.stringify(body),
    })
    const reader = broken.body?.getReader()
    const {value} = (await reader?.read()) ?? {}
    const lastId = /^id: (.+)$/m.exec(new TextDecoder().decode(value))?.[1] ?? ''
    assert.notEqual(lastId, '')
    await reader?.cancel()
    let missed = ''
    // The server may not have noticed yet that the connection is broken.
    await until(async () => {
      const resumed = await fetch(url, {
        headers: {...headers, accept: 'text/event-stream', 'last-event-id': lastId},
        signal: t.signal,
      })
      if (resumed.status !== 200) return false
      const decoder = new TextDecoder()
      for await (const chunk of resumed.body ?? []) {
        missed += decoder.decode(chunk as Uint8Array, {stream: true})
        if (missed.includes('"id":5')) break
      }
      return true
    }, 'the stream can be resumed')
    const {id, result} = JSON.parse(/^data: (\{.*)$/m.exec(missed)?.[1] ?? '{}')
    assert.deepEqual([id, result.structuredContent.success], [5, true])
  })
})
