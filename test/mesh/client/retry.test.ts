import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {describe, it} from 'node:test'
import {readRetryAfter, retryDelayMs} from '../../../src/mesh/client/retry.js'
import {createMeshClient, MeshHttpError, type MeshOperation, routes} from '../../../src/mesh/index.js'
import {everyOperation, operationNames} from './support/every-operation.js'
import {problem, reply, type Script, scriptedControlPlane} from './support/scripted-control-plane.js'

type Test = {after(work: () => unknown): void}

/** A client with minimal delays between retries. */
const hasty = {random: () => 0.001}

/** Calls an operation and returns its error, if any, and the received requests. */
async function outcome(t: Test, operation: MeshOperation, script: Script, options = {}) {
  const plane = await scriptedControlPlane(t, script)
  const client = plane.connect({...hasty, ...options})
  const error = await everyOperation[operation].ask(client).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error === undefined || error instanceof MeshHttpError, String(error))
  return {error, asked: plane.asked}
}

const refuse =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    reply(response, status, {code: 'no'}, headers)

/** Sends part of a response and closes the connection. */
const breakOff = (response: ServerResponse, status: number) => {
  response.writeHead(status, {'content-length': '1000'})
  response.write('{"nodes":', () => setTimeout(() => response.destroy(), 20))
}

describe('request with an error response', () => {
  for (const status of [408, 429, 502, 503, 504])
    it(`${status} is attempted up to four times`, async (t) => {
      const {error, asked} = await outcome(t, 'join', refuse(status))
      assert.deepEqual([asked.length, error?.status, error?.isTransient], [4, status, true])
    })

  for (const status of [400, 401, 403, 404, 409, 410, 413, 415, 422, 500, 501])
    it(`${status} is attempted once`, async (t) => {
      const {error, asked} = await outcome(t, 'join', refuse(status))
      assert.deepEqual([asked.length, error?.status, error?.isTransient], [1, status, false])
    })

  it('is retried until it succeeds', async (t) => {
    const {error, asked} = await outcome(t, 'list_nodes', (response, _asked, count) =>
      count < 4 ? reply(response, 503) : reply(response, 200, {nodes: []}),
    )
    assert.deepEqual([error, asked.length], [undefined, 4])
  })

  it('is attempted once if retries are disabled', async (t) => {
    const plane = await scriptedControlPlane(t, refuse(503))
    await assert.rejects(plane.connect({...hasty, retry: false}).health())
    assert.equal(plane.asked.length, 1)
    await assert.rejects(plane.connect(hasty).health({retry: false}))
    assert.equal(plane.asked.length, 2)
  })

  for (const operation of operationNames) {
    const {repeatable} = routes[operation]
    it(`for ${operation} is ${repeatable === true ? 'retried' : 'attempted once'}`, async (t) => {
      const {asked} = await outcome(t, operation, refuse(503))
      assert.equal(asked.length, repeatable === true ? 4 : 1)
    })
  }

  it('that delivers a message is retried only with an idempotency key', async (t) => {
    const message = {senderAgentId: '1', receiverAgentId: '2', messageType: 'free_form', payload: 'x'}
    for (const [idempotencyKey, times] of [
      ['k-1', 4],
      [undefined, 1],
      ['  ', 1],
    ] as const)
      for (const script of [refuse(503), (response: ServerResponse) => response.destroy()]) {
        const plane = await scriptedControlPlane(t, script)
        await assert.rejects(plane.connect(hasty).deliver({...message, idempotencyKey}))
        assert.equal(plane.asked.length, times)
        assert.equal(new Set(plane.asked.map(({body}) => JSON.stringify(body))).size, 1, 'the same each time')
      }
  })
})

describe('request without a response', () => {
  it('is retried if the connection breaks', async (t) => {
    const {error, asked} = await outcome(t, 'exec_lease_renew', (response, _asked, count) =>
      count < 3 ? response.destroy() : reply(response, 204),
    )
    assert.deepEqual([error, asked.length], [undefined, 3])
  })

  it('is retried for a shorter time if nothing accepts connections', async () => {
    const attempts: number[] = []
    for (const connectRetryMs of [undefined, 3]) {
      let failures = 0
      const random = () => {
        failures += 1
        return 0.01
      }
      const options = {baseUrl: 'http://127.0.0.1:1', tokens: {}, random, connectRetryMs}
      await assert.rejects(createMeshClient(options).listNodes(), {kind: 'transport'})
      attempts.push(failures)
    }
    // The last attempt has no delay; the first delay of 5 ms exceeds the limit of 3 ms.
    assert.deepEqual(attempts, [3, 1])
  })

  it('is retried if the response is incomplete', async (t) => {
    const {error, asked} = await outcome(t, 'list_nodes', (response, _asked, count) =>
      count > 1 ? reply(response, 200, {nodes: []}) : breakOff(response, 200),
    )
    assert.deepEqual([error, asked.length], [undefined, 2])
  })

  it('times out per attempt, and in total at the deadline of all attempts', async (t) => {
    const started = performance.now()
    const {error, asked} = await outcome(t, 'join', () => {}, {timeoutMs: 150})
    assert.ok(performance.now() - started >= 290)
    assert.deepEqual([error?.kind, error?.status, error?.isTransient], ['transport', undefined, true])
    assert.ok(asked.length <= 3, String(asked.length))
    assert.match(error?.message ?? '', /\/v1\/mesh\/join did not respond within \d+ ms\.$/)
  })

  it('is not retried after the deadline, if the process wakes up late', async (t) => {
    const timeoutMs = 20
    const random = () => {
      const until = performance.now() + 3 * timeoutMs
      setImmediate(() => {
        while (performance.now() < until);
      })
      return 0.001
    }
    const {error, asked} = await outcome(t, 'join', () => {}, {timeoutMs, random})
    assert.ok(asked.length <= 1, String(asked.length))
    assert.match(error?.message ?? '', /did not respond within 20 ms\.$/)
  })

  it('times out if the response arrives too slowly', async (t) => {
    const {error} = await outcome(
      t,
      'list_nodes',
      (response) => {
        response.flushHeaders()
        const timer = setInterval(() => response.write(' '), 20)
        response.on('close', () => clearInterval(timer))
      },
      {timeoutMs: 200, retry: false},
    )
    assert.deepEqual([error?.kind, error?.status, error?.isTransient], ['io', 200, true])
    assert.match(error?.message ?? '', /did not respond within 200 ms\.$/)
  })

  it('aborts with its signal, during an attempt and between attempts', async (t) => {
    const reason = new Error('the caller has gone')
    const scripts: ((go: () => void) => Script)[] = [(go) => () => go(), () => refuse(429, {'retry-after': '20'})]
    for (const script of scripts) {
      const gone = new AbortController()
      const go = () => gone.abort(reason)
      const plane = await scriptedControlPlane(t, script(go))
      // Called right before the delay.
      const random = () => {
        setImmediate(go)
        return 0
      }
      const work = plane.connect({random}).health({signal: gone.signal})
      await assert.rejects(work, (error) => error === reason)
      await assert.rejects(plane.connect().health({signal: gone.signal}), (error) => error === reason)
      assert.equal(plane.asked.length, 1)
    }
  })
})

describe('removal that is retried', () => {
  const gone = (response: ServerResponse) => problem(response, 404, 'gone')
  const losses: [string, Script][] = [
    ['its response is lost', (response) => response.destroy()],
    ['its response is incomplete', (response) => breakOff(response, 200)],
    ['a gateway timed out', refuse(504)],
  ]
  for (const operation of ['leave', 'exec_lease_release', 'admin_exec_lease_revoke', 'a2a_ack'] as const)
    for (const [what, lose] of losses)
      it(`succeeds if the first ${operation} succeeded and ${what}`, async (t) => {
        const plane = await scriptedControlPlane(t, (response, asked, count) =>
          count === 1 ? lose(response, asked, count) : gone(response),
        )
        assert.notEqual(await everyOperation[operation].ask(plane.connect(hasty)), false)
        assert.equal(plane.asked.length, 2)
      })

  it('fails if the first attempt was refused, or the operation is not a removal', async (t) => {
    const script: (lose: Script) => Script = (lose) => (response, asked, count) =>
      count === 1 ? lose(response, asked, count) : gone(response)
    const refused = await outcome(t, 'admin_exec_lease_revoke', script(refuse(503)))
    const renewed = await outcome(
      t,
      'exec_lease_renew',
      script((response) => response.destroy()),
    )
    for (const {error, asked} of [refused, renewed]) assert.deepEqual([asked.length, error?.status], [2, 404])
    const plane = await scriptedControlPlane(t, script(refuse(503)))
    assert.equal(await everyOperation.leave.ask(plane.connect(hasty)), false)
  })
})

describe('delay before a retry', () => {
  it('respects Retry-After in seconds and as a date on the server clock', async (t) => {
    const serverMs = Date.UTC(2040, 4, 5, 6, 7, 8)
    const http = (ms: number) => new Date(ms).toUTCString()
    for (const headers of [
      {'retry-after': '1'},
      {'retry-after': http(serverMs + 1000), date: http(serverMs)},
    ] as Record<string, string>[]) {
      const {asked, error} = await outcome(t, 'join', (response, _asked, count) =>
        count === 1 ? refuse(429, headers)(response) : reply(response, 200, everyOperation.join.answer),
      )
      const [first, second] = asked
      assert.equal(error, undefined)
      assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 1000)
    }
  })

  it('is skipped if it would exceed the deadline or the maximum', async (t) => {
    for (const [after, timeoutMs] of [
      ['50', 16_000],
      ['61', 60_000],
    ] as const) {
      const {error, asked} = await outcome(t, 'join', refuse(503, {'retry-after': after}), {timeoutMs})
      assert.deepEqual([asked.length, error?.retryAfterMs], [1, Number(after) * 1000])
    }
  })

  it('is random up to a bound that doubles to 30 s without Retry-After', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 7, 30].map((failed) => retryDelayMs(failed, undefined, 1)),
      [500, 1000, 2000, 4000, 30_000, 30_000],
    )
    assert.equal(retryDelayMs(3, undefined, 0), 0)
    assert.equal(retryDelayMs(3, undefined, 0.25), 500)
  })

  it('is slightly longer than Retry-After, and undefined above one minute', () => {
    for (const random of [0, 0.5, 1]) {
      const ms = retryDelayMs(1, 2000, random) ?? 0
      assert.ok(ms > 2000 && ms <= 2202)
    }
    assert.ok((retryDelayMs(1, 60_000, 0) ?? 0) >= 60_000)
    assert.equal(retryDelayMs(1, 60_001, 0), undefined)
  })

  for (const [header, date, expected] of [
    ['3', undefined, 3000],
    [' 0 ', undefined, 0],
    ['1.5', undefined, 1500],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:49:30 GMT', 7000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', undefined, 0],
    ['Thu, 01 Jan 1970 00:00:05 GMT', 'nonsense', 4000],
    ['-3', undefined, undefined],
    ['soon', undefined, undefined],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ] as const)
    it(`is ${expected} ms for Retry-After ${JSON.stringify(header)}${date === undefined ? '' : ` at ${date}`}`, () => {
      assert.equal(readRetryAfter(header, {date, nowMs: 1000 + (date === undefined ? 784_111_777_000 : 0)}), expected)
    })
})
