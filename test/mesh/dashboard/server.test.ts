import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {request} from 'undici'
import type {DashboardState, NodeRow, StateChanges, Timed} from '../../../src/mesh/dashboard/view.js'
import {createMeshClient, startDashboard} from '../../../src/mesh/index.js'
import {EventStream} from '../../support/event-stream.js'
import {temporaryFolder} from '../../support/temporary.js'
import {timeoutMs, until} from '../../support/until.js'
import {assertSelfContained} from '../../support/web-page.js'
import {node, nodesAnswer, type ScriptedPlane, scriptedPlane} from './scripted-plane.js'

const token = 'canary-Kd83jf72hfsLq0'

async function open(test: TestContext) {
  const plane = await scriptedPlane(test)
  const client = createMeshClient({baseUrl: plane.baseUrl, tokens: {mesh: token}})
  const dashboard = await startDashboard({
    client,
    address: {host: '127.0.0.1', port: 0},
    staleAfterMs: 60_000,
    keyPath: join(await temporaryFolder(test), 'dashboard.key'),
  })
  test.after(async () => {
    await dashboard.close()
    await client.close()
  })
  const origin = dashboard.baseUrl
  const authorization = `Bearer ${new URL(dashboard.pageUrl).hash.slice('#token='.length)}`
  const post = async (path: string, body: unknown, headers: Record<string, string> = {origin}) => {
    const response = await request(`${origin}/api/${path}`, {
      method: 'POST',
      headers: {'content-type': 'application/json', authorization, ...headers},
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.body.text()
    return {status: response.statusCode, text, problem: text === '' ? undefined : JSON.parse(text)}
  }
  const events = async (headers: Record<string, string> = {}) => {
    const stream = await EventStream.open(`${origin}/api/events`, {authorization, ...headers})
    test.after(() => stream.close())
    return stream
  }
  return {plane, dashboard, origin, authorization, post, events}
}

type TimedState = Timed<DashboardState>

/** States received by a page, with changes applied. */
function states({events}: EventStream): TimedState[] {
  const had: TimedState[] = []
  for (const {data} of events) {
    const came = data as unknown as TimedState | Timed<StateChanges>
    had.push('rows' in came ? changed(had.at(-1), came) : came)
  }
  return had
}

function changed(before: TimedState | undefined, {rows, ...rest}: Timed<StateChanges>): TimedState {
  const nodes = before?.nodes
  if (nodes === undefined || !('known' in nodes)) return {...rest, ...(nodes === undefined ? {} : {nodes})}
  const others = new Map(rows.map((row) => [row.id, row]))
  return {...rest, nodes: {...nodes, known: nodes.known.map((row) => others.get(row.id) ?? row)}}
}

/** Waits for a state that matches a condition. */
async function state(stream: EventStream, isSo: (state: TimedState) => boolean): Promise<TimedState> {
  let found: TimedState | undefined
  await until(
    () => {
      found = states(stream).find(isSo)
      return found !== undefined
    },
    () => `another state after ${JSON.stringify(states(stream).at(-1))}`,
  )
  return found as unknown as TimedState
}

const idsOf = ({nodes}: TimedState) =>
  nodes !== undefined && 'known' in nodes ? nodes.known.map(({id}) => id) : undefined

const asked = (plane: ScriptedPlane) => plane.asked('/v1/mesh/nodes').length

describe('dashboard page', () => {
  it('is a self-contained document with a strict content security policy', async (t) => {
    const {dashboard} = await open(t)
    const {statusCode, headers, body} = await request(dashboard.baseUrl)
    assert.equal(statusCode, 200)
    const page = await body.text()
    assertSelfContained(page, String(headers['content-security-policy']))
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  })

  it('contains no data, and gets none without its key', async (t) => {
    const {dashboard, origin, plane} = await open(t)
    for (const authorization of [undefined, `Bearer ${'A'.repeat(24)}`]) {
      const headers = authorization === undefined ? {} : {authorization}
      assert.equal((await request(`${origin}/api/events`, {headers})).statusCode, 401)
      const act = await request(`${origin}/api/quarantine`, {method: 'POST', headers: {origin, ...headers}, body: '{}'})
      assert.equal(act.statusCode, 401)
    }
    assert.equal(asked(plane), 0)
    const other = await request(dashboard.baseUrl, {headers: {host: 'mesh.example:80'}})
    assert.equal(other.statusCode, 403)
    assert.match(await other.body.text(), /host_forbidden/)
  })
})

describe('dashboard actions', () => {
  const done: readonly [path: string, body: object, at: string, sent: object][] = [
    ['quarantine', {node_id: 'a', quarantined: true}, 'admin/quarantine', {node_id: 'a', quarantined: true}],
    ['quarantine', {node_id: 'a', quarantined: false}, 'admin/quarantine', {node_id: 'a', quarantined: false}],
    ['maintenance', {node_id: 'a', maintenance: true}, 'admin/maintenance', {node_id: 'a', maintenance: true}],
    [
      'maintenance',
      {node_id: 'a', maintenance: true, minutes: 5},
      'admin/maintenance',
      {node_id: 'a', maintenance: true, maintenance_for_ms: 300_000},
    ],
    ['revoke-lease', {lease_id: '17'}, 'admin/exec-lease/revoke', {lease_id: '17'}],
    ['retry-dead', {message_id: 7}, 'a2a/dead/retry', {message_ids: [7]}],
    ['drop-dead', {message_id: 7}, 'a2a/dead/drop', {message_ids: [7]}],
  ]
  for (const [path, body, at, sent] of done)
    it(`${path} ${JSON.stringify(body)} is forwarded`, async (t) => {
      const {post, plane} = await open(t)
      assert.equal((await post(path, body)).status, 204)
      assert.deepEqual(plane.asked(`/v1/mesh/${at}`), [sent])
    })

  const wrong: readonly [path: string, body: unknown, code: string][] = [
    ['quarantine', {quarantined: true}, 'missing_field'],
    ['quarantine', {node_id: '', quarantined: true}, 'missing_field'],
    ['quarantine', {node_id: 'a', quarantined: 'yes'}, 'missing_field'],
    ['maintenance', {node_id: 'a', maintenance: true, minutes: 0}, 'missing_field'],
    ['maintenance', {node_id: 'a', maintenance: true, minutes: 1.5}, 'missing_field'],
    ['maintenance', {node_id: 'a', maintenance: true, minutes: 10_081}, 'missing_field'],
    ['revoke-lease', {lease_id: 17}, 'missing_field'],
    ['revoke-lease', [], 'missing_field'],
    ['retry-dead', {message_id: '7'}, 'missing_field'],
    ['drop-dead', {}, 'missing_field'],
    ['revoke-lease', 'null', 'invalid_json'],
    ['revoke-lease', '{', 'invalid_json'],
  ]
  for (const [path, body, code] of wrong)
    it(`${path} ${JSON.stringify(body)} is rejected`, async (t) => {
      const {post, plane} = await open(t)
      const {status, problem} = await post(path, body)
      assert.deepEqual([status, problem.code], [400, code])
      assert.deepEqual([plane.asked('/v1/mesh/admin/quarantine'), plane.asked('/v1/mesh/admin/maintenance')], [[], []])
    })

  const strangers: readonly [string, (origin: string) => Record<string, string>][] = [
    ['a program without an Origin header', () => ({})],
    ['a page of another host', () => ({origin: 'https://mesh.example'})],
    ['a page of another server of this machine', () => ({origin: 'http://127.0.0.1:1'})],
    ['a page with the origin null', () => ({origin: 'null'})],
    ['a cross-site page', (origin) => ({origin, 'sec-fetch-site': 'cross-site'})],
    ['a same-site page of another server', (origin) => ({origin, 'sec-fetch-site': 'same-site'})],
  ]
  for (const [name, headers] of strangers)
    it(`are refused for ${name}`, async (t) => {
      const {post, plane, origin} = await open(t)
      const {status, problem} = await post('quarantine', {node_id: 'a', quarantined: true}, headers(origin))
      assert.deepEqual([status, problem.code], [403, 'origin_denied'])
      assert.deepEqual(plane.asked('/v1/mesh/admin/quarantine'), [])
    })

  it('accept only JSON', async (t) => {
    const {post, origin} = await open(t)
    const {status} = await post('revoke-lease', '{}', {origin, 'content-type': 'text/plain'})
    assert.equal(status, 415)
  })

  it('return errors of the control plane', async (t) => {
    const {post, plane} = await open(t)
    const body = {status: 404, code: 'lease_not_found', detail: 'Lease 9 does not exist; it may have expired.'}
    plane.answers.set('/v1/mesh/admin/exec-lease/revoke', {status: 404, body})
    const {status, problem} = await post('revoke-lease', {lease_id: '9'})
    assert.deepEqual([status, problem.code], [404, 'lease_not_found'])
    assert.match(problem.detail, /Lease 9 does not exist/)
    assert.ok(problem.hint.length > 0)
  })

  it('fail if a message is no longer dead', async (t) => {
    const {post, plane} = await open(t)
    for (const verb of ['retry', 'drop']) {
      plane.answers.set(`/v1/mesh/a2a/dead/${verb}`, {status: 200, body: {message_ids: [], not_found: [7]}})
      const {status, problem} = await post(`${verb}-dead`, {message_id: 7})
      assert.deepEqual([status, problem.code], [404, 'dead_message_not_found'])
    }
  })
})

describe('dashboard state', {concurrency: 3}, () => {
  it('is sent immediately, and again with a higher id after a change', async (t) => {
    const {plane, events} = await open(t)
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(node('a', {quarantined: true})))
    const stream = await events()
    const first = await state(stream, () => true)
    assert.deepEqual([first.control.answers, first.control.url], [true, plane.baseUrl])
    assert.deepEqual(
      [first.leases, first.queue],
      [{known: []}, {known: {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 0}}],
    )
    assert.ok(Math.abs(first.clock_unix_ms - 5_000_000) < timeoutMs, 'the time is that of the control plane')
    const before = asked(plane)
    await until(() => asked(plane) >= before + 2, 'two more readings')
    assert.equal(stream.events.length, 1, 'nothing has changed')
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(node('a'), node('b')))
    const next = await state(stream, (each) => idsOf(each)?.length === 2)
    assert.deepEqual(idsOf(next), ['a', 'b'])
    assert.ok((stream.events[1]?.id ?? 0) > (stream.events[0]?.id ?? 0))
  })

  it('is updated immediately after an action', async (t) => {
    const {plane, events, post} = await open(t)
    const stream = await events()
    await stream.received(1)
    for (const id of ['a', 'b', 'c']) {
      plane.answers.set('/v1/mesh/nodes', nodesAnswer(node(id)))
      await post('maintenance', {node_id: id, maintenance: true})
      await state(stream, (each) => idsOf(each)?.[0] === id)
    }
  })

  it('is polled once per second for all pages, and not without a page', async (t) => {
    const {plane, dashboard, events} = await open(t)
    await (await request(dashboard.baseUrl)).body.dump()
    assert.equal(asked(plane), 0)
    const started = performance.now()
    const streams = await Promise.all(Array.from({length: 6}, () => events()))
    await Promise.all(streams.map((stream) => stream.received(1)))
    await until(() => asked(plane) >= 3, 'three readings')
    const ms = performance.now() - started
    assert.ok(ms >= (asked(plane) - 1) * 990, `${asked(plane)} readings in ${ms} ms`)
    for (const stream of streams) assert.equal(stream.events.length, 1)
    for (const stream of streams) stream.close()
    // One more poll may start before the server has noticed that the pages are closed.
    let readings = 0
    let sinceMs = 0
    await until(() => {
      if (asked(plane) !== readings) {
        readings = asked(plane)
        sinceMs = performance.now()
      }
      return performance.now() - sinceMs > 1500
    }, 'the readings end')
  })

  it('is sent to at most 32 pages', async (t) => {
    const {origin, authorization, events} = await open(t)
    const streams = await Promise.all(Array.from({length: 32}, () => events()))
    await Promise.all(streams.map((stream) => stream.received(1)))
    const refused = await request(`${origin}/api/events`, {headers: {authorization}})
    assert.equal(refused.statusCode, 503)
    assert.ok(refused.headers['retry-after'])
    streams[0]?.close()
    await until(async () => {
      const {statusCode, body} = await request(`${origin}/api/events`, {headers: {authorization}})
      body.destroy()
      return statusCode === 200
    }, 'room for another page')
  })

  it('is not sent to other pages', async (t) => {
    const {events, origin} = await open(t)
    for (const headers of [{'sec-fetch-site': 'cross-site'}, {origin: 'https://mesh.example'}] as const)
      await assert.rejects(events({...headers}), /answered 403/)
    await (await events({origin, 'sec-fetch-site': 'same-origin'})).received(1)
  })

  it('keeps the last data while the control plane is unreachable', async (t) => {
    const {plane, events} = await open(t)
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(node('a')))
    const stream = await events()
    await stream.received(1)
    plane.isAway = true
    const away = await state(stream, ({control}) => !control.answers)
    assert.deepEqual(idsOf(away), ['a'])
    assert.ok(Math.abs((away.control.answered_unix_ms ?? 0) - Date.now()) < timeoutMs)
    assert.match(away.control.fault ?? '', /^Cannot reach http/)
    plane.isAway = false
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(node('b')))
    const back = await state(stream, (each) => idsOf(each)?.[0] === 'b')
    assert.deepEqual([back.control.answers, back.control.fault], [true, undefined])
  })

  it('marks denied parts and contains the others', async (t) => {
    const {plane, events} = await open(t)
    const body = {
      status: 403,
      code: 'role_forbidden',
      detail: 'The role worker is not allowed to perform this operation.',
    }
    plane.answers.set('/v1/mesh/exec/leases', {status: 403, body})
    const first = await state(await events(), () => true)
    assert.match(JSON.stringify(first.leases), /denied.*The role worker is not allowed to perform this operation/)
    assert.deepEqual([first.control.answers, first.control.fault], [true, undefined])
    assert.deepEqual(idsOf(first), [])
  })

  it('contains the newest dead messages with shortened payloads, requested only if there are any', async (t) => {
    const {plane, events} = await open(t)
    const dead = {
      id: 7,
      sender_agent_id: '1',
      receiver_agent_id: '2',
      message_type: 'free_form',
      dead_unix_ms: 4_000_000,
    }
    const messages = [{...dead, payload: 'x'.repeat(1000), delivery_attempts: 16, jwe_payload: 'sealed'}]
    plane.answers.set('/v1/mesh/a2a/dead', {status: 200, body: {messages, next_cursor: '7'}})
    const stream = await events()
    assert.deepEqual((await state(stream, ({dead}) => dead !== undefined)).dead, {known: []})
    assert.deepEqual(plane.asked('/v1/mesh/a2a/dead'), [])
    const stats = {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 60}
    plane.answers.set('/v1/mesh/queue/stats', {status: 200, body: stats})
    const shown = await state(
      stream,
      ({queue}) => queue !== undefined && 'known' in queue && queue.known.dead_count > 0,
    )
    assert.deepEqual(shown.dead, {known: [{...dead, payload: 'x'.repeat(200)}], truncated: true})
    const body = {
      status: 403,
      code: 'role_forbidden',
      detail: 'The role worker is not allowed to perform this operation.',
    }
    plane.answers.set('/v1/mesh/a2a/dead', {status: 403, body})
    const denied = await state(stream, (each) => each.dead !== undefined && 'denied' in each.dead)
    assert.deepEqual([denied.control.answers, denied.control.fault], [true, undefined])
  })

  it('reports errors of the control plane', async (t) => {
    const {plane, events} = await open(t)
    plane.answers.set('/v1/mesh/queue/stats', {status: 503, body: {code: 'store_unavailable', detail: 'No room.'}})
    const first = await state(await events(), () => true)
    assert.equal(first.control.answers, true)
    assert.match(first.control.fault ?? '', /No room/)
    assert.equal(first.queue, undefined)
  })

  it('contains all pages of the node list', async (t) => {
    const {plane, events} = await open(t)
    const {body} = nodesAnswer(node('a'))
    plane.answers.set('/v1/mesh/nodes', {status: 200, body: {...body, truncated: true, next_cursor: 'a'}})
    plane.answers.set('/v1/mesh/nodes?limit=500&cursor=a', nodesAnswer(node('z')))
    assert.deepEqual(idsOf(await state(await events(), () => true)), ['a', 'z'])
  })

  it('contains up to 10,000 nodes and reports truncation', async (t) => {
    const {plane, events} = await open(t)
    const page = (from: number) => Array.from({length: 5000}, (_, i) => node(`n-${from + i}`))
    const answer = (from: number, next?: string) => {
      const {status, body} = nodesAnswer(...page(from))
      return {status, body: {...body, ...(next === undefined ? {} : {truncated: true, next_cursor: next})}}
    }
    plane.answers.set('/v1/mesh/nodes', answer(0, 'a'))
    plane.answers.set('/v1/mesh/nodes?limit=500&cursor=a', answer(5000, 'b'))
    plane.answers.set('/v1/mesh/nodes?limit=500&cursor=b', answer(10_000))
    const cut = (await state(await events(), () => true)).nodes
    assert.ok(cut !== undefined && 'known' in cut)
    assert.deepEqual([cut.known.length, cut.truncated], [10_000, true])
    plane.answers.set('/v1/mesh/nodes?limit=500&cursor=a', answer(5000))
    const whole = await state(await events(), ({nodes}) => nodes !== undefined && 'known' in nodes && !nodes.truncated)
    assert.equal(idsOf(whole)?.length, 10_000)
  })

  it('is updated with changed nodes only', async (t) => {
    const {plane, events} = await open(t)
    const nodes = Array.from({length: 50}, (_, i) => node(`n-${i}`))
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(...nodes))
    const stream = await events()
    await stream.received(1)
    plane.answers.set('/v1/mesh/nodes', nodesAnswer(...nodes.with(7, node('n-7', {last_seen_unix_ms: 5_000_001}))))
    await stream.received(2)
    const {rows = [], ...rest} = Object(stream.events[1]?.data) as Partial<Timed<StateChanges>>
    assert.deepEqual(
      rows.map((row: NodeRow) => [row.id, row.last_seen_unix_ms]),
      [['n-7', 5_000_001]],
    )
    assert.deepEqual(Object.keys(rest).sort(), ['clock_unix_ms', 'control', 'dead', 'leases', 'queue'])
  })
})

describe('dashboard token', () => {
  it('is never sent to the page, even if the control plane echoes it', async (t) => {
    const {plane, dashboard, events, post} = await open(t)
    const leak = {status: 403, body: {code: 'role_forbidden', detail: `No such token: ${token}`}}
    plane.answers.set(
      '/v1/mesh/nodes',
      nodesAnswer(node(token, {version: token, capabilities: {labels: [`t=${token}`]}})),
    )
    plane.answers.set('/v1/mesh/exec/leases', leak)
    plane.answers.set('/v1/mesh/queue/stats', {
      status: 200,
      body: {pending_count: 1, pending_by_kind: {[token]: 1}, pending_by_priority: {}, dead_count: 0},
    })
    plane.answers.set('/v1/mesh/admin/quarantine', leak)
    const page = await request(dashboard.baseUrl)
    const stream = await events()
    const first = await state(stream, () => true)
    assert.equal(JSON.stringify(first).match(/\[redacted\]/g)?.length, 5)
    const {status, text} = await post('quarantine', {node_id: 'a', quarantined: true})
    assert.equal(status, 403)
    const received = [JSON.stringify(page.headers), await page.body.text(), JSON.stringify(stream.events), text]
    for (const each of received) assert.ok(!each.includes(token))
  })
})
