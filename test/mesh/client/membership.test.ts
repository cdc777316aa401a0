import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {
  type JoinRecord,
  type MembershipEvent,
  type MembershipOptions,
  startMembership,
} from '../../../src/mesh/index.js'
import {until as untilHolds} from '../../support/until.js'
import {type Asked, problem, reply, type Script, scriptedControlPlane} from './support/scripted-control-plane.js'

type Test = {after(work: () => unknown): void}
type Said = Record<string, unknown>

const facts: JoinRecord = {
  id: 'node-a',
  version: '1.0.0',
  capabilities: {cpu_cores: 4},
  cpu_usage_pct: 1,
  memory_free_bytes: 10,
}

/** Responds with a heartbeat interval. */
const accept: (nextMs?: number) => Script =
  (nextMs) =>
  (response, {body}) => {
    const record = {...facts, ...(body as object), last_seen_unix_ms: 1}
    reply(response, 200, nextMs === undefined ? record : {...record, next_heartbeat_ms: nextMs})
  }

/** Starts a membership with a scripted control plane. Ends with the test, or earlier. */
async function member(t: Test, script: Script, options: Partial<MembershipOptions> = {}) {
  const plane = await scriptedControlPlane(t, script)
  const events: MembershipEvent[] = []
  const ending = new AbortController()
  const membership = startMembership(plane.connect(), {
    record: () => facts,
    heartbeatSecs: 0.1,
    signal: ending.signal,
    onEvent: (event) => events.push(event),
    ...options,
  })
  const end = async () => {
    ending.abort()
    await membership.done
  }
  t.after(end)
  const until = (holds: () => boolean) => untilHolds(holds, () => `an event after ${JSON.stringify(events)}`)
  return {plane, events, membership, end, until, types: () => events.map(({type}) => type)}
}

/** Waits for two heartbeats of another member, as a measure of time. */
async function twoHeartbeats(t: Test): Promise<void> {
  const {plane, until, end} = await member(t, accept(100))
  await until(() => plane.asked.length >= 3)
  await end()
}

const said = ({body}: Asked): Said => body as Said
const path = ({route}: Asked) => route.replace('POST /v1/mesh/', '')

describe('startMembership', () => {
  it('joins with the full record, then sends short heartbeats', async (t) => {
    const {plane, until, end, types} = await member(t, accept(100))
    await until(() => plane.asked.length >= 3)
    await end()
    const [join, first, second] = plane.asked.map(said)
    assert.deepEqual(plane.asked.slice(0, 3).map(path), ['join', 'heartbeat', 'heartbeat'])
    const {incarnation, seq, ...joined} = join ?? {}
    assert.deepEqual([joined, seq], [facts, 0])
    assert.ok(Number.isSafeInteger(incarnation))
    assert.deepEqual(first, {id: 'node-a', cpu_usage_pct: 1, memory_free_bytes: 10, incarnation, seq: 1})
    assert.equal(second?.seq, 2)
    assert.deepEqual(types().slice(0, 2), ['joined', 'heartbeat'])
  })

  it('sends the full record once after a change', async (t) => {
    let cores = 4
    let load = 1
    const record = () => ({...facts, capabilities: {cpu_cores: cores}, cpu_usage_pct: load++})
    const {plane, until} = await member(t, accept(100), {record})
    await until(() => plane.asked.length >= 3)
    cores = 8
    const before = plane.asked.length
    await until(() => plane.asked.length >= before + 4)
    const bodies = plane.asked.map(said)
    const full = bodies.filter((body) => 'version' in body)
    assert.equal(full.length, 2)
    assert.deepEqual(full[1]?.capabilities, {cpu_cores: 8})
    const loads = bodies.map(({cpu_usage_pct}) => cpu_usage_pct)
    assert.deepEqual(
      loads,
      loads.map((_, i) => i + 1),
    )
  })

  it('repeats a changed record until it is confirmed', async (t) => {
    let cores = 4
    const record = () => ({...facts, capabilities: {cpu_cores: cores}})
    let refusals = 0
    const {plane, until} = await member(
      t,
      (response, asked, count) => {
        if (path(asked) === 'join' || !('version' in said(asked)) || refusals++ > 0)
          return accept(100)(response, asked, count)
        return problem(response, 503, 'store_unavailable')
      },
      {record},
    )
    await until(() => plane.asked.length >= 2)
    cores = 8
    await until(() => refusals >= 2)
    const full = plane.asked.filter((asked) => path(asked) === 'heartbeat' && 'version' in said(asked))
    assert.deepEqual(
      full.map((asked) => said(asked).capabilities),
      [{cpu_cores: 8}, {cpu_cores: 8}],
    )
  })

  it('uses the interval of the control plane, or else its own', async (t) => {
    for (const [nextMs, heartbeatSecs] of [
      [200, 60],
      [undefined, 0.2],
    ] as const) {
      const {plane, until} = await member(t, accept(nextMs), {heartbeatSecs})
      await until(() => plane.asked.length >= 3)
      const at = plane.asked.map(({atMs}) => atMs)
      for (const i of [1, 2]) assert.ok((at[i] ?? 0) - (at[i - 1] ?? 0) >= 175, 'give or take a tenth')
    }
  })

  it('sends its scope with every request', async (t) => {
    const {plane, until} = await member(t, accept(100), {record: () => ({...facts, scope_id: 'scope-a'})})
    await until(() => plane.asked.length >= 2)
    const [, beat] = plane.asked.map(said)
    assert.deepEqual([beat?.scope_id, 'version' in (beat ?? {})], ['scope-a', false])
  })

  it('sends the agent whose messages are counted', async (t) => {
    const {plane, until} = await member(t, accept(100), {receiverAgentId: '7'})
    await until(() => plane.asked.length >= 2)
    assert.deepEqual(
      plane.asked
        .map(said)
        .map(({receiver_agent_id}) => receiver_agent_id)
        .slice(0, 2),
      [undefined, '7'],
    )
  })

  it('joins without heartbeats if the interval is 0', async (t) => {
    const {plane, until, end, types} = await member(t, accept(100), {heartbeatSecs: 0})
    await until(() => types().length > 0)
    await twoHeartbeats(t)
    await end()
    assert.deepEqual(plane.asked.map(path), ['join'])
  })

  it('joins again immediately with the same incarnation if the node is unknown', async (t) => {
    const {plane, until} = await member(t, (response, asked, count) =>
      count === 2 ? problem(response, 404, 'node_not_found') : accept(100)(response, asked, count),
    )
    await until(() => plane.asked.length >= 4)
    assert.deepEqual(plane.asked.slice(0, 4).map(path), ['join', 'heartbeat', 'join', 'heartbeat'])
    const bodies = plane.asked.slice(0, 4).map(said)
    assert.equal(new Set(bodies.map(({incarnation}) => incarnation)).size, 1)
    assert.deepEqual(
      bodies.map(({seq}) => seq),
      [0, 1, 2, 3],
    )
  })

  it('backs off after each failure and joins again after the third', async (t) => {
    const {plane, events, until} = await member(t, (response, asked, count) =>
      count >= 2 && count <= 5 ? problem(response, 503, 'overloaded') : accept(100)(response, asked, count),
    )
    await until(() => plane.asked.length >= 7)
    assert.deepEqual(plane.asked.slice(0, 7).map(path), [
      'join',
      'heartbeat',
      'heartbeat',
      'heartbeat',
      'join',
      'join',
      'heartbeat',
    ])
    const failed = events.filter((event) => event.type === 'failed')
    assert.deepEqual(
      failed.map(({failures, operation}) => [failures, operation]),
      [
        [1, 'heartbeat'],
        [2, 'heartbeat'],
        [3, 'heartbeat'],
        [4, 'join'],
      ],
    )
    for (const [i, {nextMs}] of failed.entries())
      assert.ok(nextMs >= 90 * 2 ** i && nextMs <= 110 * 2 ** i, `${nextMs} after ${i + 1} failures`)
    const at = plane.asked.map(({atMs}) => atMs)
    for (const [i, {nextMs}] of failed.entries()) assert.ok((at[i + 2] ?? 0) - (at[i + 1] ?? 0) >= nextMs - 2)
  })

  it('limits its backoff to five minutes, but respects Retry-After', async (t) => {
    const long = await member(t, (response) => problem(response, 503, 'overloaded'), {heartbeatSecs: 400})
    await long.until(() => long.events.length > 0)
    const [event] = long.events
    assert.ok(event?.type === 'failed' && event.nextMs >= 270_000 && event.nextMs <= 330_000)
    const headers = {'retry-after': '40'}
    const asked = await member(t, (response) => problem(response, 429, 'rate_limited', {headers}))
    await asked.until(() => asked.events.length > 0)
    assert.ok(asked.events[0]?.type === 'failed' && asked.events[0].nextMs >= 40_000)
  })

  it('limits Retry-After to an hour', async (t) => {
    for (const after of ['4000000', '9'.repeat(30)]) {
      const headers = {'retry-after': after}
      const {plane, events, until} = await member(t, (response, asked, count) =>
        count === 1 ? problem(response, 429, 'rate_limited', {headers}) : accept(100)(response, asked, count),
      )
      await until(() => events.length > 0)
      // A timer with a delay above its maximum fires after a millisecond.
      await sleep(20)
      assert.equal(plane.asked.length, 1)
      assert.ok(events[0]?.type === 'failed' && events[0].nextMs === 3_600_000)
    }
  })

  it('reports and ends when a newer process replaces it', async (t) => {
    const {plane, membership, events, types} = await member(t, (response, asked, count) =>
      count === 2 ? problem(response, 409, 'duplicate_node_id') : accept(100)(response, asked, count),
    )
    await membership.done
    assert.deepEqual(types(), ['joined', 'replaced'])
    assert.ok(events[1]?.type === 'replaced' && events[1].error.code === 'duplicate_node_id')
    assert.equal(plane.asked.length, 2)
  })

  for (const heartbeatSecs of [3600, 0])
    it(`joins at once on request, with heartbeats each ${heartbeatSecs} s`, async (t) => {
      let isUp = false
      const script: Script = (...asked) => (isUp ? accept()(...asked) : reply(asked[0], 503, {}))
      const {plane, until, membership, types, end} = await member(t, script, {heartbeatSecs})
      await until(() => types().includes('failed'))
      isUp = true
      await membership.rejoin()
      assert.deepEqual(types(), ['failed', 'joined'])
      await membership.rejoin()
      assert.deepEqual(plane.asked.map(path), ['join', 'join', 'join'])
      await end()
      await membership.rejoin()
      assert.equal(plane.asked.length, 3)
    })

  it('sends nothing after leaving', async (t) => {
    for (const isKnown of [true, false]) {
      const {plane, membership, until} = await member(t, (response, asked, count) => {
        if (path(asked) !== 'leave') return accept(100)(response, asked, count)
        return isKnown ? reply(response, 204) : problem(response, 404, 'node_not_found')
      })
      await until(() => plane.asked.length >= 2)
      assert.equal(await membership.leave(), isKnown)
      const count = plane.asked.length
      await twoHeartbeats(t)
      assert.equal(plane.asked.length, count)
      assert.deepEqual(plane.asked.map(path).at(-1), 'leave')
      assert.deepEqual(said(plane.asked.at(-1) as Asked), {id: 'node-a'})
    }
  })

  it('ends immediately on abort', async (t) => {
    const silent = await member(t, () => {})
    await silent.until(() => silent.plane.asked.length > 0)
    await silent.end()
    const resting = await member(t, accept(3_000_000))
    await resting.until(() => resting.events.length > 0)
    await resting.end()
    assert.deepEqual([silent.types(), resting.types()], [[], ['joined']])
    const late = await member(t, accept(100), {signal: AbortSignal.abort()})
    await late.membership.done
    assert.equal(late.plane.asked.length, 0)
  })
})
