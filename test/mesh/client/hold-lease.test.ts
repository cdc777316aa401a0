import assert from 'node:assert/strict'
import {once} from 'node:events'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {type HoldOptions, holdLease, type LeaseLoss, MeshHttpError} from '../../../src/mesh/index.js'
import {until} from '../../support/until.js'
import {problem, reply, type Script, scriptedControlPlane} from './support/scripted-control-plane.js'

type Test = {after(work: () => unknown): void}

const lease = {lease_id: '17', fence_token: 17, scope_key: 'task:1', holder_node_id: 'node-a'}
const serverMs = Date.UTC(2035, 1, 2)

/** Grants a lease of a duration, and runs a script for other requests. */
const granting =
  (leaseMs: number, rest: Script = (response) => reply(response, 204)): Script =>
  (response, asked, count) => {
    if (!asked.route.endsWith('/grant')) return rest(response, asked, count)
    return reply(response, 200, {...lease, expires_unix_ms: serverMs + leaseMs, server_time_unix_ms: serverMs})
  }

async function hold(t: Test, script: Script, options: Partial<HoldOptions> = {}) {
  const plane = await scriptedControlPlane(t, script)
  const losses: LeaseLoss[] = []
  const held = await holdLease(plane.connect(), {
    claimer: 'node-a',
    scopeKey: 'task:1',
    onLost: (loss) => losses.push(loss),
    ...options,
  })
  t.after(() => held.release())
  const routes = () => plane.asked.map(({route}) => route.replace('POST /v1/mesh/exec/lease/', ''))
  return {held, plane, losses, routes}
}

/** Stopped clock, so that no deadline is reached on a slow machine. */
const still = {monotonic: () => 0}

/** Clock that goes back by a minute after the grant, so that the first renewal does not time out on a slow machine. */
const setBack = () => {
  let reads = 0
  return {monotonic: () => (reads++ === 0 ? 0 : -60_000)}
}

const ended = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}

describe('holdLease', () => {
  it('renews at each third of the duration, ±10 %', async (t) => {
    const {held, plane} = await hold(t, granting(1200), still)
    await until(() => plane.asked.length >= 4, 'it was renewed three times')
    assert.deepEqual([held.isHeld, held.lease.lease_id], [true, '17'])
    const at = plane.asked.map(({atMs}) => atMs)
    assert.ok(at.length >= 4, `renewed ${at.length - 1} times`)
    for (const [i, ms] of at.entries()) assert.ok(i === 0 || ms - (at[i - 1] ?? 0) >= 355)
    assert.deepEqual(plane.asked[1]?.body, {lease_id: '17', claimer_node_id: 'node-a'})
  })

  it('does not renew immediately if the delay exceeds the maximum of a timer', async (t) => {
    const {held, plane, routes} = await hold(t, granting(2 ** 40))
    // A timer with a delay above its maximum fires after a millisecond.
    await sleep(20)
    await plane
      .connect()
      .health()
      .catch(() => undefined)
    assert.deepEqual([held.isHeld, routes()], [true, ['grant', 'GET /health']])
  })

  it('releases once and stops renewing', async (t) => {
    const {held, routes, losses} = await hold(t, granting(60), still)
    await held.release()
    await held.release()
    assert.deepEqual([held.isHeld, held.ended.aborted, losses], [false, true, []])
    // Three renewal intervals.
    await sleep(60)
    assert.deepEqual(routes(), ['grant', 'release'])
  })

  it('releases when the signal aborts', async (t) => {
    const gone = new AbortController()
    const {held, routes} = await hold(t, granting(600), {signal: gone.signal})
    gone.abort()
    assert.equal(held.isHeld, false)
    await until(() => routes().length >= 2, 'the release')
    assert.deepEqual(routes(), ['grant', 'release'])
  })

  it('throws if the lease is not granted', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => problem(response, 409, 'lease_held'))
    await assert.rejects(
      holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1'}),
      (error) => error instanceof MeshHttpError && error.code === 'lease_held',
    )
    const signal = AbortSignal.abort(new Error('gone'))
    await assert.rejects(holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1', signal}), /gone/)
    assert.equal(plane.asked.length, 1)
  })

  it('releases if the duration is unknown', async (t) => {
    const plane = await scriptedControlPlane(t, (response, {route}) => {
      if (route.endsWith('/grant')) return reply(response, 200, {...lease, expires_unix_ms: serverMs})
      return route.endsWith('/verify') ? problem(response, 500, 'internal') : reply(response, 204)
    })
    await assert.rejects(holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1'}), MeshHttpError)
    await until(() => plane.asked.length >= 3, 'the release')
    assert.match(plane.asked[2]?.route ?? '', /\/release$/)
  })

  for (const status of [403, 404, 409])
    it(`loses the lease immediately if a renewal returns ${status}`, async (t) => {
      const {held, losses, routes} = await hold(
        t,
        granting(60, (response) => problem(response, status, 'no')),
        setBack(),
      )
      await ended(held.ended)
      assert.equal(held.isHeld, false)
      assert.deepEqual(
        losses.map(({reason}) => reason),
        ['refused'],
      )
      assert.ok(losses[0]?.cause instanceof MeshHttpError && losses[0].cause.isStatus(status))
      assert.equal(held.ended.reason, losses[0])
      // Two renewal intervals.
      await sleep(50)
      assert.deepEqual(routes(), ['grant', 'renew'], 'what is lost is not given back')
    })

  it('keeps the lease after transient errors', async (t) => {
    const {held, plane, losses} = await hold(
      t,
      granting(300, (response, _asked, count) => {
        if (count === 2) return problem(response, 503, 'overloaded', {headers: {'retry-after': '0'}})
        if (count === 3) return response.destroy()
        return reply(response, 204)
      }),
      {...still, random: () => 0},
    )
    await until(() => plane.asked.length >= 5, 'the renewals')
    assert.deepEqual([held.isHeld, losses.length, plane.asked.length >= 5], [true, 0, true])
  })

  for (const [what, script] of [
    ['returns 503', (response) => problem(response, 503, 'overloaded')],
    [
      'sends a Retry-After beyond the deadline',
      (response) => problem(response, 429, 'x', {headers: {'retry-after': '30'}}),
    ],
    ['closes the connection', (response) => response.destroy()],
    ['does not respond', () => {}],
  ] as [string, Script][])
    it(`loses the lease at a local deadline if the control plane ${what}`, async (t) => {
      const before = performance.now()
      const {held, losses} = await hold(t, granting(400, script))
      await ended(held.ended)
      const heldMs = performance.now() - before
      assert.ok(heldMs >= 190, `held for ${heldMs} ms`)
      assert.deepEqual([held.isHeld, losses.map(({reason}) => reason)], [false, ['deadline']])
    })

  it('reports the loss by the local clock, even if no timer has fired', async (t) => {
    let nowMs = 0
    const {held, losses} = await hold(t, granting(30_000), {monotonic: () => nowMs, random: () => 0})
    nowMs = 26_999
    assert.equal(held.isHeld, true, 'a tenth before its end')
    nowMs = 27_000
    assert.equal(held.isHeld, false)
    assert.deepEqual(losses, [], 'nothing has run yet')
  })

  it('stays lost if a renewal sent in time is confirmed too late', async (t) => {
    let nowMs = 0
    const {held, losses, plane} = await hold(
      t,
      granting(600, (response) => {
        nowMs = 301
        reply(response, 204)
      }),
      {monotonic: () => nowMs},
    )
    await ended(held.ended)
    assert.deepEqual([plane.asked.length, held.isHeld, losses.map(({reason}) => reason)], [2, false, ['deadline']])
  })

  it('counts the deadline from the sending of the renewal', async (t) => {
    let nowMs = 0
    const isHeldAt: [ms: number, isHeld: boolean][] = []
    const {held} = await hold(
      t,
      granting(900, (response, _asked, count) => {
        if (count === 2) {
          nowMs = 100
          return reply(response, 204)
        }
        // Only the first renewal gets a response.
        for (nowMs of [449, 451]) isHeldAt.push([nowMs, held.isHeld])
      }),
      {monotonic: () => nowMs, random: () => 0.5},
    )
    await until(() => isHeldAt.length >= 2, 'the second renewal')
    assert.deepEqual(
      isHeldAt,
      [
        [449, true],
        [451, false],
      ],
      'though the renewal was answered at 100',
    )
  })

  for (const [what, granted, verified, options, lastMs] of [
    ['with the duration from the grant', {server_time_unix_ms: serverMs}, undefined, {}, 36_000],
    ['with the duration from a verification', {}, {server_time_unix_ms: serverMs + 10_000}, {}, 27_000],
    ['with a given duration', {}, undefined, {leaseMs: 20_000}, 18_000],
  ] as const)
    it(`holds the lease ${what}, ignoring the Date header`, async (t) => {
      let nowMs = 0
      const {held, routes} = await hold(
        t,
        (response, {route}) => {
          const body = route.endsWith('/verify') ? {valid: true, ...verified} : granted
          const date = new Date(serverMs - 3_600_000).toUTCString()
          reply(response, 200, {...lease, ...body, expires_unix_ms: serverMs + 40_000}, {date})
        },
        {monotonic: () => nowMs, ...options},
      )
      assert.deepEqual(routes(), verified === undefined ? ['grant'] : ['grant', 'verify'])
      nowMs = lastMs - 1
      assert.equal(held.isHeld, true)
      nowMs = lastMs
      assert.equal(held.isHeld, false)
    })
})
