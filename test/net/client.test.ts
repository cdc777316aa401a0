import assert from 'node:assert/strict'
import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http'
import {createServer as createSecureServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {json, text} from 'node:stream/consumers'
import {describe, it, type TestContext} from 'node:test'
import {inspect} from 'node:util'
import {request} from 'undici'
import {Exit, isErrorOf} from '../../src/errors/index.js'
import {waitMs} from '../../src/net/client.js'
import {createHttpClient, type HttpClientOptions, trustAuthorities} from '../../src/net/index.js'
import {selfSigned} from '../support/self-signed.js'
import {temporaryFolder} from '../support/temporary.js'

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => unknown

/** A real server and a client, closed when the test ends. `requests` contains the received requests in order. */
async function connect(test: TestContext, handler: Handler, options: Partial<HttpClientOptions> = {}) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    handler(request, response, requests.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createHttpClient({baseUrl, ...options})
  test.after(async () => {
    server.closeAllConnections()
    server.close()
    await client.close()
  })
  return {client, server, requests, baseUrl}
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))

/** Error with which a promise is rejected. */
const thrown = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  )

describe('HTTP client', () => {
  it('returns status, headers and JSON body', async (t) => {
    const {client} = await connect(t, answer(201, {text: 'Grüße'}, {'x-request-id': 'r-1'}))
    const {status, headers, body} = await client.json('/v1/x')
    assert.deepEqual([status, headers['x-request-id'], body], [201, 'r-1', {text: 'Grüße'}])
  })

  it('sends method, path, headers and the body as JSON', async (t) => {
    const {client, requests} = await connect(t, async (request, response) => {
      response.end(JSON.stringify({received: await json(request)}))
    })
    const {body} = await client.json('/v1/x?y=1', {method: 'POST', body: {a: [1]}, headers: {'x-request-id': 'r-1'}})
    assert.deepEqual(body, {received: {a: [1]}})
    const [{method, url, headers} = {} as IncomingMessage] = requests
    assert.deepEqual([method, url], ['POST', '/v1/x?y=1'])
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers.accept, 'application/json')
    assert.equal(headers['x-request-id'], 'r-1')
    assert.equal(headers.authorization, undefined)
  })

  it('sends no content type without a body', async (t) => {
    const {client, requests} = await connect(t, answer(200, {}))
    await client.json('/')
    assert.equal(requests[0]?.headers['content-type'], undefined)
  })

  it('accepts an empty response', async (t) => {
    const {client} = await connect(t, (_request, response) => response.writeHead(204).end())
    assert.deepEqual((await client.json('/')).body, undefined)
  })

  it('sends the token as a bearer token', async (t) => {
    const {client, requests} = await connect(t, answer(200, {}), {token: 'abc-secret'})
    await client.json('/')
    assert.equal(requests[0]?.headers.authorization, 'Bearer abc-secret')
  })
})

describe('error response', () => {
  const bodies: [kind: string, body: unknown, detail: string | undefined][] = [
    ['OpenAI', {error: {message: 'No such model.', type: 'x', param: null, code: null}}, 'No such model'],
    ['Ollama', {error: 'model "x" not found'}, 'model "x" not found'],
    [
      'problem details',
      {type: 'about:blank', title: 'Not Found', status: 404, detail: 'No such node.'},
      'No such node',
    ],
    ['flat audio', {error: 'model_missing', message: 'No such model.', hint: 'Pull it.'}, 'No such model'],
    ['data language', {ok: false, code: 'NOT_FOUND', message: 'no route'}, 'no route'],
    ['plain text', 'Not Found', 'Not Found'],
    ['plain text with a full stop', 'There is no such page.', 'There is no such page'],
    ['several lines of text', 'Not Found\nsecond line', 'Not Found'],
    ['lines that end in CRLF', 'Not Found\r\nsecond line', 'Not Found'],
    ['long text', 'x'.repeat(5000), 'x'.repeat(200)],
    ['more than it reads', 'x'.repeat(100_000), undefined],
    ['empty', '', undefined],
  ]
  for (const [kind, body, detail] of bodies)
    it(`is reported with status and message (${kind})`, async (t) => {
      const {client, baseUrl, requests} = await connect(t, answer(404, body))
      for (const work of [client.json('/v1/x'), client.stream('/v1/x')]) {
        const error = await thrown(work)
        assert.ok(isErrorOf(error, 'http_status'))
        assert.deepEqual(error.params, {url: `${baseUrl}/v1/x`, status: 404, detail})
        assert.equal(
          error.message,
          `${baseUrl}/v1/x responded with status 404${detail === undefined ? '' : `: ${detail}`}.`,
        )
        assert.equal(error.exit, Exit.failed)
      }
      assert.equal(requests.length, 2, 'it is asked once')
    })

  for (const status of [400, 401, 409, 500, 502])
    it(`${status} is not retried`, async (t) => {
      const {client, requests} = await connect(t, answer(status, {error: 'no'}))
      const error = await thrown(client.json('/'))
      assert.ok(isErrorOf(error, 'http_status') && error.params.status === status)
      assert.equal(requests.length, 1)
    })
})

describe('busy server', () => {
  for (const status of [429, 503])
    it(`with ${status} is retried according to Retry-After`, async (t) => {
      const {client, requests} = await connect(t, (request, response, count) =>
        count < 3
          ? answer(status, 'busy', {'retry-after': '0'})(request, response, count)
          : response.end('{"ok":true}'),
      )
      assert.deepEqual((await client.json('/', {method: 'POST', body: {a: 1}})).body, {ok: true})
      assert.equal(requests.length, 3)
    })

  it('is retried for streams', async (t) => {
    const {client} = await connect(t, (request, response, count) =>
      count < 2 ? answer(503, 'busy', {'retry-after': '0'})(request, response, count) : response.end('piece'),
    )
    const {body} = await client.stream('/')
    assert.equal(await text(body), 'piece')
  })

  it('is not retried after the maximum number of attempts', async (t) => {
    const {client, requests} = await connect(t, answer(503, {error: 'still busy'}, {'retry-after': '0'}), {attempts: 3})
    const error = await thrown(client.json('/'))
    assert.ok(isErrorOf(error, 'http_status'))
    assert.deepEqual([error.params.status, error.params.detail], [503, 'still busy'])
    assert.equal(requests.length, 3)
  })

  it('is not retried with attempts: 1', async (t) => {
    const {client, requests} = await connect(t, answer(503, 'busy'), {attempts: 1})
    await thrown(client.json('/'))
    assert.equal(requests.length, 1)
  })
})

describe('waitMs', () => {
  const cases: [attempt: number, retryAfter: string | string[] | undefined, random: number, ms: number][] = [
    [1, undefined, 0, 250],
    [2, undefined, 0, 500],
    [3, undefined, 0, 1000],
    [1, undefined, 1, 375],
    [2, undefined, 0.5, 625],
    [20, undefined, 1, 30_000],
    [1, '2', 0, 2000],
    [5, '2', 1, 2000],
    [1, '0', 1, 0],
    [1, '0.5', 0, 500],
    [1, ['3', '9'], 0, 3000],
    [1, '120', 0, 30_000],
    [1, '-1', 0, 250],
    [1, 'soon', 0, 250],
    [1, '', 0, 250],
  ]
  for (const [attempt, retryAfter, random, ms] of cases)
    it(`is ${ms} ms after attempt ${attempt} with Retry-After ${inspect(retryAfter)} and jitter ${random}`, () => {
      assert.equal(waitMs(attempt, retryAfter, random), ms)
    })

  it('is random', () => {
    assert.ok(new Set(Array.from({length: 20}, () => waitMs(1))).size > 1)
  })
})

describe('unreachable server', () => {
  it('is reported with its address', async (t) => {
    const {client, server, baseUrl} = await connect(t, answer(200, {}))
    server.close()
    await once(server, 'close')
    const error = await thrown(client.json('/v1/x'))
    assert.ok(isErrorOf(error, 'unreachable'))
    assert.equal(error.message, `Cannot reach ${baseUrl}/v1/x: connection refused.`)
    assert.equal(error.exit, Exit.unavailable)
  })

  for (const [when, handler] of [
    ['before the response', (request) => request.socket.destroy()],
    [
      'in the middle of the response',
      (_request, response) => {
        response.writeHead(200, {'content-length': '100'})
        response.write('{"a":', () => response.socket?.destroy())
      },
    ],
  ] as [string, Handler][])
    it(`is reported if it closes the connection ${when}`, async (t) => {
      const {client} = await connect(t, handler)
      const error = await thrown(client.json('/'))
      assert.ok(isErrorOf(error, 'unreachable'), inspect(error))
    })

  it('is reported if it closes the connection in the middle of a stream', async (t) => {
    const {client} = await connect(t, (_request, response) => {
      response.write('piece', () => response.socket?.destroy())
    })
    const {body} = await client.stream('/')
    const error = await thrown(text(body))
    assert.ok(isErrorOf(error, 'unreachable'), inspect(error))
  })
})

describe('server with a private certificate authority', () => {
  it('is refused until the authority is trusted', async (t) => {
    const {cert, key} = selfSigned()
    const server = createSecureServer({cert, key}, (_request, response) => response.end('{"ok":true}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = async () => {
      const client = createHttpClient({baseUrl})
      try {
        return (await client.json('/')).body
      } finally {
        await client.close()
      }
    }
    const error = await thrown(ask())
    assert.ok(isErrorOf(error, 'certificate_untrusted'), inspect(error))
    assert.match(error.hint, /SVC_TLS_CA_FILE/)
    const file = join(await temporaryFolder(t), 'ca.pem')
    await writeFile(file, cert)
    await trustAuthorities(file)
    assert.deepEqual(await ask(), {ok: true})
    assert.deepEqual(await (await request(baseUrl)).body.json(), {ok: true})
  })
})

describe('silent server', () => {
  const idleTimeoutMs = 100

  it('times out before the response', async (t) => {
    const {client, baseUrl} = await connect(t, () => {}, {idleTimeoutMs})
    const error = await thrown(client.json('/v1/x'))
    assert.ok(isErrorOf(error, 'timeout'), inspect(error))
    assert.deepEqual(error.params, {url: `${baseUrl}/v1/x`, ms: idleTimeoutMs})
    assert.equal(error.exit, Exit.unavailable)
  })

  const half: Handler = (_request, response) => {
    response.writeHead(200, {'content-length': '100'})
    response.write('{"a":')
  }

  it('times out in the middle of the response', async (t) => {
    const {client} = await connect(t, half, {idleTimeoutMs})
    const error = await thrown(client.json('/'))
    assert.ok(isErrorOf(error, 'timeout'), inspect(error))
  })

  it('times out in the middle of a stream', async (t) => {
    const {client} = await connect(t, half, {idleTimeoutMs})
    const {body} = await client.stream('/')
    const error = await thrown(text(body))
    assert.ok(isErrorOf(error, 'timeout'), inspect(error))
  })
})

describe('unusable response', () => {
  it('is refused above the maximum size', async (t) => {
    const {client, baseUrl} = await connect(
      t,
      (request, response) => {
        response.end(JSON.stringify('x'.repeat(request.url === '/fits' ? 98 : 99)))
      },
      {maxBodyBytes: 100},
    )
    assert.equal((await client.json<string>('/fits')).body.length, 98)
    const error = await thrown(client.json('/large'))
    assert.ok(isErrorOf(error, 'response_too_large'))
    assert.deepEqual(error.params, {url: `${baseUrl}/large`, limit: 100})
  })

  for (const [kind, body] of [
    ['HTML', '<!doctype html>'],
    ['truncated JSON', '{"a":'],
  ] as const)
    it(`is refused if it is ${kind}`, async (t) => {
      const {client, baseUrl} = await connect(t, answer(200, body))
      const error = await thrown(client.json('/v1/x'))
      assert.ok(isErrorOf(error, 'document_unparsable'))
      assert.ok(error.message.startsWith(`Cannot parse ${baseUrl}/v1/x: `))
    })
})

describe('streamed response', () => {
  it('is read while it arrives', async (t) => {
    let next = () => {}
    const {client} = await connect(t, (_request, response) => {
      response.write('one')
      next = () => response.end('two')
    })
    const {status, body} = await client.stream('/')
    assert.equal(status, 200)
    const pieces: string[] = []
    for await (const piece of body) {
      pieces.push(Buffer.from(piece).toString())
      next()
    }
    assert.deepEqual(pieces, ['one', 'two'])
  })

  it('can be abandoned, which disconnects the client', async (t) => {
    const {client, requests} = await connect(t, (_request, response) => {
      const more = setInterval(() => response.write('piece'), 5)
      response.once('close', () => clearInterval(more))
    })
    const {body} = await client.stream('/')
    const closed = once(requests[0]!.socket, 'close')
    for await (const _ of body) break
    await closed
  })
})

describe('aborted request', () => {
  const reason = new Error('the user pressed Ctrl-C')

  it('is not sent if aborted before', async (t) => {
    const {client, requests} = await connect(t, answer(200, {}))
    assert.equal(await thrown(client.json('/', {signal: AbortSignal.abort(reason)})), reason)
    assert.equal(requests.length, 0)
  })

  const moments: [when: string, handler: (arrived: () => void) => Handler][] = [
    ['before the response', (arrived) => arrived],
    [
      'in the middle of the response',
      (arrived) => (_request, response) => {
        response.writeHead(200, {'content-length': '100'})
        response.write('{"a":', () => setTimeout(arrived, 50))
      },
    ],
    [
      'in the middle of an error response',
      (arrived) => (_request, response) => {
        response.writeHead(404, {'content-length': '100'})
        response.write('{"a":', () => setTimeout(arrived, 50))
      },
    ],
    [
      'between two attempts',
      (arrived) => (_request, response) => {
        response.writeHead(503, {'retry-after': '20'})
        response.end('busy', () => setTimeout(arrived, 50))
      },
    ],
  ]
  for (const [when, handler] of moments)
    it(`rejects with the reason of the signal ${when}`, async (t) => {
      const controller = new AbortController()
      const {client} = await connect(
        t,
        handler(() => controller.abort(reason)),
      )
      assert.equal(await thrown(client.json('/', {signal: controller.signal})), reason)
    })

  it('rejects with the reason of the signal in the middle of a stream', async (t) => {
    const controller = new AbortController()
    const {client} = await connect(t, (_request, response) => response.write('piece'))
    const {body} = await client.stream('/', {signal: controller.signal})
    const error = await thrown(
      (async () => {
        for await (const _ of body) controller.abort(reason)
      })(),
    )
    assert.equal(error, reason)
  })
})

describe('token', () => {
  const token = 'tok-0123456789'
  const repeat: Handler = (request, response) =>
    response.writeHead(401).end(JSON.stringify({error: `Wrong header: ${request.headers.authorization}`}))
  const cases: [when: string, handler: Handler, options: Partial<HttpClientOptions>][] = [
    ['is refused', answer(401, {error: 'wrong token'}), {}],
    ['is echoed by the server', repeat, {}],
    ['is sent to a server that disconnects', (request) => request.socket.destroy(), {}],
    ['is sent to a silent server', () => {}, {idleTimeoutMs: 50}],
    ['is sent to a server that does not return JSON', answer(200, 'hello'), {}],
    ['is sent to a server that returns too much', answer(200, 'hello'), {maxBodyBytes: 2}],
  ]
  for (const [when, handler, options] of cases)
    it(`that ${when} is not part of the error`, async (t) => {
      const {client} = await connect(t, handler, {token, ...options})
      const error = (await thrown(client.json('/'))) as Error
      assert.ok(!inspect(error, {depth: 10, showHidden: true}).includes(token), error.message)
    })
})
