import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {describe, it} from 'node:test'
import {readRetryAfter, retryDelayMs} from '../../../src/mesh/client/retry.js'
import {MeshHttpError, type MeshOperation, routes} from '../../../src/mesh/index.js'
import {everyOperation, operationNames} from './support/every-operation.js'
import {problem, reply, type Script, scriptedControlPlane} from './support/scripted-control-plane.js'

type Test = {after(work: () => unknown): void}

/** A client that waits next to nothing where the control plane does not say how long. */
const hasty = {random: () => 0.001}

/** Asks for an operation, and gives what went wrong, if anything, with what the control plane was asked. */
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

/** Begins an answer and hangs up. */
const breakOff = (response: ServerResponse, status: number) => {
  response.writeHead(status, {'content-length': '1000'})
  response.write('{"nodes":', () => setTimeout(() => response.destroy(), 20))
}

describe('a request that is refused', () => {
  for (const status of [408, 429, 502, 503, 504])
    it(`with ${status} is sent four times at most`, async (t) => {
      const {error, asked} = await outcome(t, 'join', refuse(status))
      assert.deepEqual([asked.length, error?.status, error?.isTransient], [4, status, true])
    })

  for (const status of [400, 401, 403, 404, 409, 410, 413, 415, 422, 500, 501])
    it(`with ${status} is sent once`, async (t) => {
      const {error, asked} = await outcome(t, 'join', refuse(status))
      assert.deepEqual([asked.length, error?.status, error?.isTransient], [1, status, false])
    })

  it('is sent until it succeeds', async (t) => {
    const {error, asked} = await outcome(t, 'list_nodes', (response, _asked, count) =>
      count < 4 ? reply(response, 503) : reply(response, 200, {nodes: []}),
    )
    assert.deepEqual([error, asked.length], [undefined, 4])
  })

  it('is sent once where the client or the call says so', async (t) => {
    const plane = await scriptedControlPlane(t, refuse(503))
    await assert.rejects(plane.connect({...hasty, retry: false}).health())
    assert.equal(plane.asked.length, 1)
    await assert.rejects(plane.connect(hasty).health({retry: false}))
    assert.equal(plane.asked.length, 2)
  })

  for (const operation of operationNames) {
    const {repeatable} = routes[operation]
    it(`and asks for ${operation} is sent ${repeatable === true ? 'again' : 'once'}`, async (t) => {
      const {asked} = await outcome(t, operation, refuse(503))
      assert.equal(asked.length, repeatable === true ? 4 : 1)
    })
  }

  it('and delivers a message is sent again under its key, and once without one', async (t) => {
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

describe('a request without an answer', () => {
  it('is sent again where the connection ends', async (t) => {
    const {error, asked} = await outcome(t, 'exec_lease_renew', (response, _asked, count) =>
      count < 3 ? response.destroy() : reply(response, 204),
    )
    assert.deepEqual([error, asked.length], [undefined, 3])
  })

  it('is sent again where its answer breaks off', async (t) => {
    const {error, asked} = await outcome(t, 'list_nodes', (response, _asked, count) =>
      count > 1 ? reply(response, 200, {nodes: []}) : breakOff(response, 200),
    )
    assert.deepEqual([error, asked.length], [undefined, 2])
  })

  it('is given up where it was not answered in time, as often as the deadline of all tries allows', async (t) => {
    const started = performance.now()
    const {error, asked} = await outcome(t, 'join', () => {}, {timeoutMs: 150})
    assert.ok(performance.now() - started >= 290)
    assert.deepEqual([error?.kind, error?.status, error?.isTransient], ['transport', undefined, true])
    assert.ok(asked.length >= 2 && asked.length <= 3, String(asked.length))
    assert.match(error?.message ?? '', /\/v1\/mesh\/join did not answer within \d+ ms\.$/)
  })

  it('is given up where the answer dribbles', async (t) => {
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
    assert.match(error?.message ?? '', /did not answer within 200 ms\.$/)
  })

  it('ends when its caller goes, while it is sent or while it waits to be sent again', async (t) => {
    const reason = new Error('the caller has gone')
    const scripts: ((go: () => void) => Script)[] = [(go) => () => go(), () => refuse(429, {'retry-after': '20'})]
    for (const script of scripts) {
      const gone = new AbortController()
      const go = () => gone.abort(reason)
      const plane = await scriptedControlPlane(t, script(go))
      // Drawn right before it waits.
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

describe('what is ended, and is gone when it is asked for again', () => {
  const gone = (response: ServerResponse) => problem(response, 404, 'gone')
  const losses: [string, Script][] = [
    ['its answer is lost', (response) => response.destroy()],
    ['its answer breaks off', (response) => breakOff(response, 200)],
    ['a gateway gave up', refuse(504)],
  ]
  for (const operation of ['leave', 'exec_lease_release', 'admin_exec_lease_revoke', 'a2a_ack'] as const)
    for (const [what, lose] of losses)
      it(`was ended by the first ${operation} where ${what}`, async (t) => {
        const plane = await scriptedControlPlane(t, (response, asked, count) =>
          count === 1 ? lose(response, asked, count) : gone(response),
        )
        assert.notEqual(await everyOperation[operation].ask(plane.connect(hasty)), false)
        assert.equal(plane.asked.length, 2)
      })

  it('was not where the first request was refused, or is about something that should be there', async (t) => {
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

describe('the wait before a request is sent again', () => {
  it('is at least as long as the control plane asks for, in seconds or by its own clock', async (t) => {
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

  it('is not begun where it would end after the deadline, or where it is longer than anybody waits', async (t) => {
    for (const [after, timeoutMs] of [
      ['50', 16_000],
      ['61', 60_000],
    ] as const) {
      const {error, asked} = await outcome(t, 'join', refuse(503, {'retry-after': after}), {timeoutMs})
      assert.deepEqual([asked.length, error?.retryAfterMs], [1, Number(after) * 1000])
    }
  })

  it('is anything up to a bound that doubles to half a minute, where nothing is asked for', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 7, 30].map((failed) => retryDelayMs(failed, undefined, 1)),
      [500, 1000, 2000, 4000, 30_000, 30_000],
    )
    assert.equal(retryDelayMs(3, undefined, 0), 0)
    assert.equal(retryDelayMs(3, undefined, 0.25), 500)
  })

  it('is a little more than what is asked for, and none where that is longer than a minute', () => {
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
    it(`is read from ${JSON.stringify(header)}${date === undefined ? '' : ` of ${date}`} as ${expected} ms`, () => {
      assert.equal(readRetryAfter(header, {date, nowMs: 1000 + (date === undefined ? 784_111_777_000 : 0)}), expected)
    })
})
