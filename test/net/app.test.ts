import assert from 'node:assert/strict'
import {EventEmitter, once} from 'node:events'
import {createServer, get, type IncomingMessage, type Server} from 'node:http'
import {type AddressInfo, connect} from 'node:net'
import {Readable} from 'node:stream'
import {text} from 'node:stream/consumers'
import {describe, it, type TestContext} from 'node:test'
import {connect as connectTls} from 'node:tls'
import {Agent, request} from 'undici'
import {
  asAudioError,
  asDatabaseError,
  asOllamaError,
  asOpenAiError,
  asProblem,
  type ErrorRenderer,
  isErrorOf,
  SvcError,
} from '../../src/errors/index.js'
import {configureLog} from '../../src/log/index.js'
import {type AppOptions, createApp, type HttpApp, listen, ndjsonStream, sseStream} from '../../src/net/index.js'
import {selfSigned} from '../support/self-signed.js'
import {until} from '../support/until.js'

/** Captures the log during a test; returns a function that reads the lines of a request. */
function captureLog(t: TestContext) {
  const log: Record<string, unknown>[] = []
  configureLog({filter: 'info', format: 'json', stream: {write: (line) => void log.push(JSON.parse(line))}})
  t.after(() => configureLog({filter: 'warn', format: 'auto'}))
  return async (id: string) => {
    const lines = () => log.filter((record) => record.id === id)
    // The last line is written shortly after the response.
    await until(() => lines().some(({status}) => status !== undefined), 'the request is logged')
    return lines()
  }
}

/** Error renderers by path prefix. */
const dialects: [path: string, renderer: ErrorRenderer][] = [
  ['/api/audio/', asAudioError],
  ['/api/', asOllamaError],
  ['/v1/mesh/', asProblem],
  ['/v1/', asOpenAiError],
  ['/', asDatabaseError],
]
const renderer = (path: string) => dialects.find(([start]) => path.startsWith(start))?.[1] ?? asDatabaseError

/** Starts a server with routes on a free port, closed when the test ends. */
async function serve(test: TestContext, routes: (app: HttpApp) => void, options: Partial<AppOptions> = {}) {
  const app = createApp({target: 'test', hostRemedy: 'use a loopback name', renderer, ...options})
  routes(app)
  test.after(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  return listen(app, {host: '127.0.0.1', port: 0})
}

const echo = (app: HttpApp) => {
  app.post('/v1/echo', async ({body}) => ({body}))
  app.get('/v1/echo', async () => ({body: null}))
  app.get('/v1/models/:id', async ({params}) => params)
  app.delete('/v1/models/:id', async () => ({}))
  app.get('/files/*', async () => ({}))
  app.get('/', async () => ({}))
  app.get('/pages/', async () => ({}))
}

describe('response', () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

  for (const id of ['r-1', 'trace:7.b_c', 'x'.repeat(128)])
    it(`contains the request id of the client: ${id.slice(0, 12)}`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      for (const path of ['/v1/echo', '/v1/nothing']) {
        const response = await fetch(baseUrl + path, {headers: {'x-request-id': id}})
        assert.equal(response.headers.get('x-request-id'), id)
      }
    })

  for (const [why, id] of [
    ['the client sent none', undefined],
    ['that of the client has spaces', 'a b'],
    ['that of the client is too long', 'x'.repeat(129)],
    ['that of the client is markup', '<script>'],
  ] as const)
    it(`contains a new request id if ${why}`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      const headers = id === undefined ? {} : {'x-request-id': id}
      const ids = [1, 2].map(async () => (await fetch(`${baseUrl}/v1/echo`, {headers})).headers.get('x-request-id'))
      const [one, two] = await Promise.all(ids)
      assert.match(one ?? '', uuid)
      assert.match(two ?? '', uuid)
      assert.notEqual(one, two)
    })

  it('is logged in one line without the query', async (t) => {
    const logged = captureLog(t)
    const {baseUrl} = await serve(t, echo)
    await fetch(`${baseUrl}/v1/echo?key=abc`, {headers: {'x-request-id': 'logged-1'}})
    const lines = (await logged('logged-1')).map(({method, path, status, target}) => ({method, path, status, target}))
    assert.deepEqual(lines, [{method: 'GET', path: '/v1/echo', status: 200, target: 'test'}])
  })
})

describe('slow client', () => {
  const head = 'POST /v1/echo HTTP/1.1\r\nhost: 127.0.0.1\r\n'
  for (const [part, first, piece] of [
    ['head', head, 'x-a: b\r\n'],
    ['body', `${head}content-length: 100000\r\n\r\n`, ' '],
  ] as const)
    for (const tls of [undefined, {...selfSigned(), minVersion: '1.3' as const}])
      it(`is disconnected while sending the ${part} ${tls === undefined ? 'without TLS' : 'over TLS'}`, async (t) => {
        const {port} = await serve(t, echo, {headersTimeoutMs: 100, requestTimeoutMs: 200, tls})
        const socket = tls === undefined ? connect(port) : connectTls({port, ca: tls.cert, host: '127.0.0.1'})
        socket.on('error', () => undefined)
        // `once` would reject if a write follows the end.
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.resume()
        socket.write(first)
        const drip = setInterval(() => socket.write(piece), 10)
        t.after(() => clearInterval(drip))
        await closed
      })

  it('is disconnected after 15 s of headers or one minute of a body by default', () => {
    const {server} = createApp({target: 'test', hostRemedy: 'use a loopback name', renderer})
    const {headersTimeout, requestTimeout} = server as Server
    assert.deepEqual([headersTimeout, requestTimeout], [15_000, 60_000])
  })
})

describe('unknown path', () => {
  for (const [method, path] of [
    ['GET', '/v1/nothing'],
    ['POST', '/v1/models'],
    ['GET', '/v1/models/a/b'],
    ['GET', '/v1'],
  ] as const)
    it(`${method} ${path} returns 404`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      const response = await fetch(baseUrl + path, {method})
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('allow'), null)
    })
})

describe('route', () => {
  it('is found with and without a trailing slash', async (t) => {
    const {baseUrl} = await serve(t, echo)
    for (const path of ['/v1/echo', '/v1/echo/', '/v1/echo?q=/'])
      assert.equal((await fetch(baseUrl + path)).status, 200, path)
  })
})

describe('request that Node.js rejects', () => {
  const host = 'host: 127.0.0.1\r\n'
  const [get, post] = [`GET /v1/echo HTTP/1.1\r\n${host}`, `POST /v1/echo HTTP/1.1\r\n${host}`]
  for (const [what, sent, status, message] of [
    ['no HTTP', 'hello\r\n\r\n', 400, 'the request is not valid HTTP: Invalid method encountered'],
    ['an invalid header', `${get}a b: c\r\n\r\n`, 400, 'the request is not valid HTTP: Invalid header token'],
    [
      'too long a URL',
      `GET /v1/echo?${'a'.repeat(20_000)}`,
      431,
      'The URL and the headers of the request exceed 16 KiB.',
    ],
    ['an invalid length', `${post}content-length: x\r\n\r\n`, 400, /^the request is not valid HTTP: .*Content-Length/],
    [
      'an invalid chunk',
      `${post}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
      400,
      /chunk size/,
    ],
    ['no host', 'GET /v1/echo HTTP/1.1\r\n\r\n', 400, 'the Host header is missing'],
    ['half a head in time', get, 408, 'The request did not arrive completely in time.'],
    ['half a body in time', `${post}content-length: 9\r\n\r\n{`, 408, 'The request did not arrive completely in time.'],
    ['another server to connect to', `CONNECT a.example:80 HTTP/1.1\r\n${host}\r\n`, 400, 'this server is not a proxy'],
    ['an undecodable path', `GET /v1/models/%ff HTTP/1.1\r\n${host}\r\n`, 400, 'the path cannot be decoded'],
    ['an undecodable query', `GET /v1/echo?a=%ff HTTP/1.1\r\n${host}\r\n`, 400, 'the query string cannot be decoded'],
    [
      'a compressed body',
      `${post}content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`,
      415,
      'The request body is encoded with gzip.',
    ],
  ] as const)
    it(`since it has ${what}, gets an error like any other`, async (t) => {
      // On a busy machine, a complete request may arrive later than this.
      const limits = status === 408 ? {headersTimeoutMs: 100, requestTimeoutMs: 200} : {}
      const {port} = await serve(t, echo, {...limits, headers: {'x-of-all': '1'}, renderer: () => asDatabaseError})
      const socket = connect(port, '127.0.0.1')
      socket.write(sent)
      const parts: string[] = []
      for await (const data of socket.setEncoding('utf8')) {
        parts.push(data as string)
        if (parts.join('').includes('}')) break
      }
      const [head = '', body = ''] = parts.join('').split('\r\n\r\n')
      assert.match(head, new RegExp(`^HTTP/1.1 ${status} `))
      assert.match(head, /^x-of-all: 1\r$/m)
      assert.match(head, /^content-type: application\/json; charset=utf-8\r$/m)
      const {message: found, ok, request_id: id} = JSON.parse(body)
      if (typeof message === 'string') assert.equal(found, message)
      else assert.match(found, message)
      assert.equal(ok, false)
      assert.ok(head.includes(`x-request-id: ${id}\r\n`))
    })

  it('gets an error in the format of its path', async (t) => {
    const {port} = await serve(t, echo)
    for (const [path, expected] of [
      ['/v1/mesh/nodes', /content-type: application\/problem\+json\r\n.*"title":"Request Header Fields Too Large"/s],
      ['/v1/chat', /"error":\{"message":"The URL/],
    ] as const) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path}?${'a'.repeat(20_000)}`)
      assert.match(await text(socket), expected)
    }
  })

  it('gets no error that a client would take for that of its earlier request', async (t) => {
    const {port} = await serve(t, (app) => {
      app.post('/slow', () => new Promise(() => undefined))
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST /slow HTTP/1.1\r\n${host}content-length: 2\r\n\r\n{}hello\r\n\r\n`)
    assert.equal(await text(socket), '')
  })

  it('gets no error within a response that has begun', async (t) => {
    const {port} = await serve(t, (app) => {
      app.get('/stream', async (_request, reply) => {
        void sseStream(reply).write('one')
        return reply
      })
    })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET /stream HTTP/1.1\r\n${host}\r\n`)
    let received = ''
    socket.on('data', (data) => {
      if (!received.includes('one') && String(data).includes('one')) socket.write('hello\r\n\r\n')
      received += String(data)
    })
    await new Promise((resolve) => socket.once('close', resolve))
    assert.match(received, /data: one/)
    assert.doesNotMatch(received, /HTTP\/1\.1 400/)
  })
})

describe('request that Node.js treats in its own way', () => {
  for (const [what, headers] of [
    ['offers another protocol', {connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AA'}],
    ['has an unknown expectation', {expect: 'tea'}],
  ] as const)
    it(`since it ${what}, is answered like any other`, async (t) => {
      const {port} = await serve(t, echo)
      const [response] = (await once(get({port, path: '/v1/echo', headers}), 'response')) as [IncomingMessage]
      assert.deepEqual([response.statusCode, await text(response)], [200, '{"body":null}'])
    })
})

describe('unsupported method', () => {
  for (const [method, path, allow] of [
    ['PUT', '/v1/echo', 'GET, HEAD, POST'],
    ['PUT', '/v1/echo/', 'GET, HEAD, POST'],
    ['PUT', '/v1/echo?q=/', 'GET, HEAD, POST'],
    ['POST', '/v1/models/tiny', 'DELETE, GET, HEAD'],
    ['POST', '/files/a/b.txt', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['POST', '/pages/', 'GET, HEAD'],
    ['POST', '/pages', 'GET, HEAD'],
    ['OPTIONS', '/v1/echo', 'GET, HEAD, POST'],
  ] as const)
    it(`${method} ${path} returns 405 and allows ${allow}`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      const response = await fetch(baseUrl + path, {method})
      assert.equal(response.status, 405)
      assert.equal(response.headers.get('allow'), allow)
    })
})

describe('request body', () => {
  const value = {text: 'Grüße', list: [1, null]}

  for (const type of [
    'application/json',
    'application/json',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'application/vnd.x+json',
    'json',
    undefined,
  ])
    it(`is parsed as JSON with ${type === undefined ? 'no content type' : `the content type ${type}`}`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      const {statusCode, body} = await request(`${baseUrl}/v1/echo`, {
        method: 'POST',
        headers: type === undefined ? {} : {'content-type': type},
        body: JSON.stringify(value),
      })
      assert.deepEqual([statusCode, await body.json()], [200, {body: value}])
    })

  it('can be empty', async (t) => {
    const {baseUrl} = await serve(t, echo)
    for (const headers of [{}, {'content-type': 'application/json'}]) {
      const response = await fetch(`${baseUrl}/v1/echo`, {method: 'POST', headers})
      assert.deepEqual([response.status, await response.json()], [200, {}])
    }
  })

  it('that is not JSON returns 400', async (t) => {
    const {baseUrl} = await serve(t, echo)
    for (const body of ['{"a":', 'a=1&b=2', "{'a': 1}", '{} {}']) {
      const response = await fetch(`${baseUrl}/v1/echo`, {method: 'POST', body})
      assert.equal(response.status, 400, body)
      const {error} = (await response.json()) as {error: {message: string; code: string}}
      assert.equal(error.code, 'invalid_json')
      assert.match(error.message, /^The request body is not valid JSON: .+\.$/)
    }
  })

  for (const bodies of ['parsed', 'json', 'text'] as const) {
    const post = async (t: TestContext, body: Uint8Array) => {
      const {baseUrl} = await serve(t, echo, {bodies})
      const headers = {'content-type': 'application/json'}
      const response = await fetch(`${baseUrl}/v1/echo`, {method: 'POST', headers, body: Uint8Array.from(body)})
      return {status: response.status, ...((await response.json()) as {body?: unknown; error?: {code: string}})}
    }
    const quoted = (...bytes: number[]) => Buffer.from([0x22, ...bytes, 0x22])

    for (const [what, bytes] of [
      ['an invalid byte', [0xff]],
      ['a truncated character', [0xe2, 0x82]],
      ['a lone surrogate', [0xed, 0xa0, 0x80]],
      ['an overlong encoding', [0xc0, 0xaf]],
      ['an invalid byte next to a replacement character', [0xef, 0xbf, 0xbd, 0x80]],
    ] as const)
      it(`${bodies} with ${what} is refused`, async (t) => {
        const {status, error} = await post(t, quoted(...bytes))
        assert.deepEqual([status, error?.code], [400, 'invalid_json'])
      })

    it(`${bodies} can contain a replacement character and a byte order mark`, async (t) => {
      for (const text of ['"\uFFFD"', '\uFEFF"a\uFFFDb𝔫"', '\uFEFF"\uFEFF"']) {
        const {status, body} = await post(t, Buffer.from(text))
        const kept = text.replace(/^\uFEFF/, '')
        assert.deepEqual([status, body], [200, bodies === 'text' ? kept : JSON.parse(kept)])
      }
    })
  }

  for (const sent of ['at once', 'in pieces'])
    it(`that is too large is refused, sent ${sent}`, async (t) => {
      const {baseUrl} = await serve(t, echo, {bodyLimit: 100})
      const fits = JSON.stringify('x'.repeat(98))
      const tooLarge = JSON.stringify('x'.repeat(99))
      const post = async (body: string) => {
        const response = await request(`${baseUrl}/v1/echo`, {
          method: 'POST',
          body: sent === 'at once' ? body : Readable.from([body.slice(0, 50), body.slice(50)]),
        })
        return {status: response.statusCode, body: (await response.body.json()) as Record<string, object>}
      }
      assert.equal((await post(fits)).status, 200)
      const {status, body} = await post(tooLarge)
      assert.equal(status, 413)
      assert.deepEqual(body.error, {
        message: 'The request body exceeds 100 bytes.',
        type: 'invalid_request_error',
        param: null,
        code: 'request_too_large',
      })
    })
})

describe('loopback-only server', () => {
  const status = async (baseUrl: string, host: string, path = '/v1/echo') => {
    const {statusCode, body} = await request(baseUrl + path, {headers: {host}})
    await body.dump()
    return statusCode
  }

  it('refuses foreign Host headers (DNS rebinding)', async (t) => {
    const {baseUrl} = await serve(t, echo)
    const {statusCode, body, headers} = await request(`${baseUrl}/v1/echo`, {headers: {host: 'evil.example:80'}})
    assert.equal(statusCode, 403)
    assert.equal(typeof headers['x-request-id'], 'string')
    assert.match(await body.text(), /Requests for the host \\"evil\.example\\" are not allowed\./)
  })

  it('refuses them before routing and reading the body', async (t) => {
    let calls = 0
    const {baseUrl} = await serve(t, (app) => {
      app.post('/v1/count', async () => ({calls: ++calls}))
    })
    assert.equal(await status(baseUrl, 'evil.example', '/v1/nothing'), 403)
    const {statusCode, body} = await request(`${baseUrl}/v1/count`, {
      method: 'POST',
      headers: {host: 'evil.example'},
      body: '{',
    })
    await body.dump()
    assert.equal(statusCode, 403)
    assert.equal(calls, 0)
  })

  it('accepts only additional configured names', async (t) => {
    const {baseUrl} = await serve(t, echo, {allowedHosts: ['Host.docker.internal', 'localhost.']})
    assert.equal(await status(baseUrl, 'host.docker.internal:11435'), 200)
    assert.equal(await status(baseUrl, 'localhost.'), 200)
    assert.equal(await status(baseUrl, 'docker.internal'), 403)
    assert.equal(await status(baseUrl, 'localhost..'), 403)
  })

  it('ignores X-Forwarded-Host', async (t) => {
    const {baseUrl} = await serve(t, echo)
    const {statusCode, body} = await request(`${baseUrl}/v1/echo`, {
      headers: {host: 'evil.example', 'x-forwarded-host': 'localhost'},
    })
    await body.dump()
    assert.equal(statusCode, 403)
  })

  for (const host of ['localhost', 'localhost:1234', '127.0.0.1', '[::1]:11435', 'app.localhost'])
    it(`accepts ${host}`, async (t) => {
      const {baseUrl} = await serve(t, echo)
      assert.equal(await status(baseUrl, host), 200)
    })

  it('accepts any host without loopbackOnly', async (t) => {
    const {baseUrl} = await serve(t, echo, {loopbackOnly: false})
    assert.equal(await status(baseUrl, 'gpu-box.example:11435'), 200)
  })
})

describe('body with required JSON content type', () => {
  const send = async (t: TestContext, headers: Record<string, string>, body: string) => {
    const {baseUrl} = await serve(t, echo, {bodies: 'json'})
    const response = await fetch(`${baseUrl}/v1/echo`, {method: 'POST', headers, body})
    return {status: response.status, body: (await response.json()) as Record<string, unknown>}
  }
  const asJson = {'content-type': 'application/json'}

  it('is parsed', async (t) => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
      assert.deepEqual(await send(t, {'content-type': type}, '{"a":[1]}'), {status: 200, body: {body: {a: [1]}}})
  })

  it('is refused with another content type', async (t) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      assert.equal((await send(t, {'content-type': type}, '{}')).status, 415)
  })

  it('is undefined if empty', async (t) => {
    assert.deepEqual(await send(t, asJson, ''), {status: 200, body: {}})
  })

  it('is not quoted in errors, because it may contain a secret', async (t) => {
    const {status, body} = await send(t, asJson, '{"token": sesame-open}')
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /not valid JSON/)
    assert.doesNotMatch(JSON.stringify(body), /sesame/)
  })
})

describe('common response headers', () => {
  it('are on every response', async (t) => {
    const {baseUrl} = await serve(t, echo, {headers: {'x-feature': 'a,b'}})
    for (const path of ['/v1/echo', '/v1/nothing', '/v1/%E0%A4%A'])
      assert.equal((await fetch(baseUrl + path)).headers.get('x-feature'), 'a,b', path)
  })
})

describe('closing server', () => {
  for (const secure of [false, true])
    it(`closes connections without a request${secure ? ' over TLS' : ''}`, async (t) => {
      const tls = secure ? {...selfSigned(), minVersion: '1.3' as const} : undefined
      const app = createApp({target: 'test', hostRemedy: 'use a loopback name', renderer, tls})
      t.after(() => app.close())
      const {port} = await listen(app, {host: '127.0.0.1', port: 0})
      const place = {host: '127.0.0.1', port}
      const socket = secure ? connectTls({...place, rejectUnauthorized: false}) : connect(place)
      await once(app.server, secure ? 'secureConnection' : 'connection')
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.resume().once('close', resolve))
      await Promise.all([app.close(), closed])
    })
})

describe('server with a certificate', () => {
  it('serves HTTPS', async (t) => {
    const {cert, key} = selfSigned()
    const {baseUrl} = await serve(t, echo, {tls: {cert, key, minVersion: '1.3'}})
    assert.match(baseUrl, /^https:/)
    const dispatcher = new Agent({connect: {ca: cert}})
    t.after(() => dispatcher.close())
    const {statusCode, body} = await request(`${baseUrl}/v1/echo`, {dispatcher})
    assert.deepEqual([statusCode, await body.json()], [200, {body: null}])
  })

  it('refuses an invalid certificate', () => {
    for (const tls of [
      {cert: 'none', key: 'none'},
      {...selfSigned(), key: selfSigned().key},
    ])
      assert.throws(
        () =>
          createApp({target: 'test', hostRemedy: 'use a loopback name', renderer, tls: {...tls, minVersion: '1.3'}}),
        (error) => isErrorOf(error, 'tls_unusable'),
      )
  })
})

describe('error', () => {
  const message = 'top_p must be at most 1.'
  const fail = async () => {
    throw new SvcError('bad_request', {reason: message, param: 'top_p'})
  }
  const cases: [path: string, contentType: string, body: object][] = [
    ['/api/chat', 'application/json', {error: message}],
    [
      '/v1/chat/completions',
      'application/json',
      {error: {message, type: 'invalid_request_error', param: 'top_p', code: null}},
    ],
    [
      '/v1/mesh/join',
      'application/problem+json',
      {
        type: 'about:blank',
        title: 'Bad Request',
        status: 400,
        code: 'bad_request',
        detail: message,
        hint: 'Correct the request, then send it again.',
        request_id: 'r-1',
      },
    ],
    [
      '/api/audio/transcribe',
      'application/json',
      {error: 'bad_request', message, hint: 'Correct the request, then send it again.'},
    ],
    ['/books', 'application/json', {ok: false, code: 'BAD_REQUEST', message, request_id: 'r-1'}],
  ]
  for (const [path, contentType, body] of cases)
    it(`${path} has its own dialect`, async (t) => {
      const {baseUrl} = await serve(t, (app) => {
        app.get(path, fail)
      })
      const response = await fetch(`${baseUrl}${path}?x=1`, {headers: {'x-request-id': 'r-1'}})
      assert.equal(response.status, 400)
      assert.equal(response.headers.get('content-type')?.split(';')[0], contentType)
      assert.deepEqual(await response.json(), body)
    })

  it('has the dialect of the path even without a route', async (t) => {
    const {baseUrl} = await serve(t, echo)
    assert.deepEqual(await (await fetch(`${baseUrl}/api/nothing`)).json(), {
      error: 'Unknown route GET /api/nothing.',
    })
    assert.deepEqual(await (await fetch(`${baseUrl}/v1/nothing`)).json(), {
      error: {
        message: 'Unknown route GET /v1/nothing.',
        type: 'invalid_request_error',
        param: null,
        code: 'unknown_url',
      },
    })
  })

  it('has the dialect of the path even if the path is malformed', async (t) => {
    const {baseUrl} = await serve(t, echo)
    const response = await fetch(`${baseUrl}/api/%E0%A4%A`, {headers: {'x-request-id': 'r-1'}})
    assert.equal(response.status, 400)
    assert.equal(response.headers.get('x-request-id'), 'r-1')
    const body = (await response.json()) as Record<string, unknown>
    assert.deepEqual(Object.keys(body), ['error'])
    assert.equal(typeof body.error, 'string')
  })
})

describe('unavailable server', () => {
  it('sends Retry-After', async (t) => {
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/chat', async () => {
        throw new SvcError('overloaded', {reason: 'The queue is full.'})
      })
    })
    const response = await fetch(`${baseUrl}/v1/chat`)
    assert.equal(response.status, 503)
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal(((await response.json()) as {error: {code: string}}).error.code, 'overloaded')
  })

  it('keeps the Retry-After of the route', async (t) => {
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/chat', async (_request, reply) => {
        reply.header('retry-after', '7')
        throw new SvcError('overloaded', {reason: 'The model is loading.'})
      })
    })
    assert.equal((await fetch(`${baseUrl}/v1/chat`)).headers.get('retry-after'), '7')
  })

  it('does not send Retry-After for other errors', async (t) => {
    const {baseUrl} = await serve(t, echo)
    assert.equal((await fetch(`${baseUrl}/v1/nothing`)).headers.get('retry-after'), null)
  })
})

describe('internal error of a route', () => {
  it('returns 500 and is logged with the request id', async (t) => {
    const logged = captureLog(t)
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/chat', async () => {
        throw new TypeError('x is not a function')
      })
    })
    const response = await fetch(`${baseUrl}/v1/chat`, {headers: {'x-request-id': 'fault-1'}})
    assert.equal(response.status, 500)
    const body = await response.text()
    assert.equal(JSON.parse(body).error.type, 'server_error')
    assert.doesNotMatch(body, /at .*\.[jt]s/, 'no stack trace')
    const record = (await logged('fault-1')).find(({level}) => level === 'error')
    assert.equal(record?.code, 'internal')
    assert.match(JSON.stringify(record?.err), /app\.test/)
  })
})

describe('listen', () => {
  it('reports a used port and suggests the next one', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const {port} = other.address() as AddressInfo
    const app = createApp({target: 'test', hostRemedy: 'use a loopback name', renderer})
    t.after(() => app.close())
    await assert.rejects(listen(app, {host: '127.0.0.1', port}), (error: SvcError) => {
      assert.ok(isErrorOf(error, 'port_in_use'))
      assert.equal(error.message, `Another process is already listening on 127.0.0.1:${port}.`)
      assert.equal(error.exit, 5)
      return true
    })
  })

  it('chooses a free port for 0 and returns the address', async (t) => {
    const {baseUrl, port, host} = await serve(t, echo)
    assert.ok(port > 0)
    assert.equal(host, '127.0.0.1')
    assert.equal(baseUrl, `http://127.0.0.1:${port}`)
    assert.equal((await fetch(baseUrl)).status, 200)
  })

  it('reports an address of another machine', async (t) => {
    const app = createApp({target: 'test', hostRemedy: 'use a loopback name', renderer})
    t.after(() => app.close())
    await assert.rejects(listen(app, {host: '192.0.2.1', port: 0}), (error) => isErrorOf(error, 'address_unavailable'))
  })
})

describe('streamed response', () => {
  const kinds = [
    ['newline-delimited JSON', ndjsonStream, 'application/x-ndjson', '{"n":1}\n{"text":"a\\nb"}\n"[DONE]"\n'],
    [
      'server-sent events',
      sseStream,
      'text/event-stream',
      'data: {"n":1}\n\ndata: {"text":"a\\nb"}\n\ndata: [DONE]\n\n',
    ],
  ] as const

  for (const [kind, open, contentType, expected] of kinds) {
    it(`as ${kind} has content type, request id and no-cache headers`, async (t) => {
      const gone = new EventEmitter()
      const closed = once(gone, 'closed')
      const {baseUrl} = await serve(t, (app) => {
        app.get('/v1/stream', async (_request, reply) => {
          reply.header('x-more', 'yes')
          const stream = open(reply)
          for (const value of [{n: 1}, {text: 'a\nb'}, '[DONE]']) await stream.write(value)
          stream.end()
          reply.raw.once('close', () => gone.emit('closed', stream.gone.aborted))
        })
      })
      const response = await fetch(`${baseUrl}/v1/stream`, {headers: {'x-request-id': 'r-1'}})
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), contentType)
      assert.equal(response.headers.get('cache-control'), 'no-cache')
      assert.equal(response.headers.get('x-request-id'), 'r-1')
      assert.equal(response.headers.get('x-more'), 'yes')
      assert.equal(await response.text(), expected)
      assert.deepEqual(await closed, [false], 'the client stayed to the end')
    })

    it(`as ${kind} arrives while it is being produced`, async (t) => {
      const client = new EventEmitter()
      const {baseUrl} = await serve(t, (app) => {
        app.get('/v1/stream', async (_request, reply) => {
          const stream = open(reply)
          const first = once(client, 'got the first')
          await stream.write({n: 1})
          await first
          await stream.write({n: 2})
          stream.end()
        })
      })
      const {body} = await fetch(`${baseUrl}/v1/stream`)
      const pieces: string[] = []
      for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
        pieces.push(piece)
        client.emit('got the first')
      }
      assert.equal(pieces.length, 2)
    })

    it(`as ${kind} aborts when the client disconnects`, async (t) => {
      const server = new EventEmitter()
      const stopped = once(server, 'stopped')
      const {baseUrl} = await serve(t, (app) => {
        app.get('/v1/stream', async (_request, reply) => {
          const stream = open(reply)
          await stream.write({n: 1})
          if (!stream.gone.aborted) await once(stream.gone, 'abort')
          await stream.write({n: 2})
          stream.end()
          server.emit('stopped')
        })
      })
      const controller = new AbortController()
      const {body} = await fetch(`${baseUrl}/v1/stream`, {signal: controller.signal})
      await body!.getReader().read()
      controller.abort()
      await stopped
    })
  }

  const frame = 'x'.repeat(1 << 20)
  const frames = 40

  it('waits for a slow client without buffering much', async (t) => {
    const server = new EventEmitter()
    const full = once(server, 'full')
    let largest = 0
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/stream', async (_request, reply) => {
        const stream = ndjsonStream(reply)
        for (let i = 0; i < frames; i++) {
          const sent = stream.write(frame)
          largest = Math.max(largest, reply.raw.writableLength)
          if (reply.raw.writableNeedDrain) server.emit('full')
          await sent
        }
        stream.end()
      })
    })
    const [response] = (await once(get(`${baseUrl}/v1/stream`), 'response')) as [IncomingMessage]
    await full
    const answer = await text(response)
    assert.equal(answer.length, frames * (frame.length + '""\n'.length))
    assert.ok(largest < 4 * frame.length, `${largest} bytes were held`)
  })

  it('stops waiting when a slow client disconnects', async (t) => {
    const server = new EventEmitter()
    const full = once(server, 'full')
    const stopped = once(server, 'stopped')
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/stream', async (_request, reply) => {
        const stream = ndjsonStream(reply)
        while (!stream.gone.aborted) {
          const sent = stream.write(frame)
          if (reply.raw.writableNeedDrain) server.emit('full')
          await sent
        }
        server.emit('stopped')
      })
    })
    const [response] = (await once(get(`${baseUrl}/v1/stream`), 'response')) as [IncomingMessage]
    await full
    response.destroy()
    await stopped
  })

  it('is not started for a client that has disconnected', async (t) => {
    const server = new EventEmitter()
    const waiting = once(server, 'waiting')
    const opened = once(server, 'opened')
    const written = once(server, 'written')
    const {baseUrl} = await serve(t, (app) => {
      app.get('/v1/stream', async (_request, reply) => {
        const closed = once(reply.raw, 'close')
        server.emit('waiting')
        await closed
        const stream = ndjsonStream(reply)
        server.emit('opened', stream.gone.aborted)
        await stream.write(frame)
        stream.end()
        server.emit('written')
      })
    })
    const controller = new AbortController()
    const answer = fetch(`${baseUrl}/v1/stream`, {signal: controller.signal}).catch(() => {})
    await waiting
    controller.abort()
    await answer
    assert.deepEqual(await opened, [true], 'the work knows at once that nobody waits')
    await written
  })
})
