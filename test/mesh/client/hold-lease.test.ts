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

/** Grants a lease for so long, and answers whatever else as is said. */
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

/** A clock that stands, so that no deadline comes near while a slow machine works. */
const still = {monotonic: () => 0}

/** A clock that is set back by a minute after the grant, so that the first renewal does not time out there either. */
const setBack = () => {
  let reads = 0
  return {monotonic: () => (reads++ === 0 ? 0 : -60_000)}
}

const ended = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}

describe('a lease that is held', () => {
  it('is renewed at each third of its time, give or take a tenth', async (t) => {
    const {held, plane} = await hold(t, granting(1200), still)
    await until(() => plane.asked.length >= 4, 'it was renewed three times')
    assert.deepEqual([held.isHeld, held.lease.lease_id], [true, '17'])
    const at = plane.asked.map(({atMs}) => atMs)
    assert.ok(at.length >= 4, `renewed ${at.length - 1} times`)
    for (const [i, ms] of at.entries()) assert.ok(i === 0 || ms - (at[i - 1] ?? 0) >= 355)
    assert.deepEqual(plane.asked[1]?.body, {lease_id: '17', claimer_node_id: 'node-a'})
  })

  it('is not renewed at once where it holds for longer than any timer waits', async (t) => {
    const {held, plane, routes} = await hold(t, granting(2 ** 40))
    // A timer that is asked for too much ends after a millisecond.
    await sleep(20)
    await plane
      .connect()
      .health()
      .catch(() => undefined)
    assert.deepEqual([held.isHeld, routes()], [true, ['grant', 'GET /health']])
  })

  it('is given back once, and not renewed any more', async (t) => {
    const {held, routes, losses} = await hold(t, granting(60), still)
    await held.release()
    await held.release()
    assert.deepEqual([held.isHeld, held.ended.aborted, losses], [false, true, []])
    // Three times as long as until a renewal.
    await sleep(60)
    assert.deepEqual(routes(), ['grant', 'release'])
  })

  it('is given back when its holder has gone', async (t) => {
    const gone = new AbortController()
    const {held, routes} = await hold(t, granting(600), {signal: gone.signal})
    gone.abort()
    assert.equal(held.isHeld, false)
    await until(() => routes().length >= 2, 'the release')
    assert.deepEqual(routes(), ['grant', 'release'])
  })

  it('is not held where it was not granted', async (t) => {
    const plane = await scriptedControlPlane(t, (response) => problem(response, 409, 'lease_held'))
    await assert.rejects(
      holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1'}),
      (error) => error instanceof MeshHttpError && error.code === 'lease_held',
    )
    const signal = AbortSignal.abort(new Error('gone'))
    await assert.rejects(holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1', signal}), /gone/)
    assert.equal(plane.asked.length, 1)
  })

  it('is given back where nobody says for how long it holds', async (t) => {
    const plane = await scriptedControlPlane(t, (response, {route}) => {
      if (route.endsWith('/grant')) return reply(response, 200, {...lease, expires_unix_ms: serverMs})
      return route.endsWith('/verify') ? problem(response, 500, 'internal') : reply(response, 204)
    })
    await assert.rejects(holdLease(plane.connect(), {claimer: 'node-a', scopeKey: 'task:1'}), MeshHttpError)
    await until(() => plane.asked.length >= 3, 'the release')
    assert.match(plane.asked[2]?.route ?? '', /\/release$/)
  })

  for (const status of [403, 404, 409])
    it(`is lost at once when a renewal is answered with ${status}`, async (t) => {
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
      // Twice as long as until the next renewal.
      await sleep(50)
      assert.deepEqual(routes(), ['grant', 'renew'], 'what is lost is not given back')
    })

  it('survives trouble that passes', async (t) => {
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
    ['refuses to say', (response) => problem(response, 503, 'overloaded')],
    ['asks for more time than there is', (response) => problem(response, 429, 'x', {headers: {'retry-after': '30'}})],
    ['hangs up', (response) => response.destroy()],
    ['is silent', () => {}],
  ] as [string, Script][])
    it(`is lost at a deadline of its own, before its end, where the control plane ${what}`, async (t) => {
      const before = performance.now()
      const {held, losses} = await hold(t, granting(400, script))
      await ended(held.ended)
      const heldMs = performance.now() - before
      assert.ok(heldMs >= 190, `held for ${heldMs} ms`)
      assert.deepEqual([held.isHeld, losses.map(({reason}) => reason)], [false, ['deadline']])
    })

  it('is lost by the clock of its holder, though no timer of it has run and the control plane would renew it', async (t) => {
    let nowMs = 0
    const {held, losses} = await hold(t, granting(30_000), {monotonic: () => nowMs, random: () => 0})
    nowMs = 26_999
    assert.equal(held.isHeld, true, 'a tenth before its end')
    nowMs = 27_000
    assert.equal(held.isHeld, false)
    assert.deepEqual(losses, [], 'nothing has run yet')
  })

  it('stays lost where a renewal that was sent in time comes back too late', async (t) => {
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

  it('counts from when its renewal was sent', async (t) => {
    let nowMs = 0
    const isHeldAt: [ms: number, isHeld: boolean][] = []
    const {held} = await hold(
      t,
      granting(900, (response, _asked, count) => {
        if (count === 2) {
          nowMs = 100
          return reply(response, 204)
        }
        // The first renewal is over by the time of the second, which gets no answer.
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
    ['the control plane says with it', {server_time_unix_ms: serverMs}, undefined, {}, 36_000],
    ['the control plane says when it is asked', {}, {server_time_unix_ms: serverMs + 10_000}, {}, 27_000],
    ['its taker knows', {}, undefined, {leaseMs: 20_000}, 18_000],
  ] as const)
    it(`holds for as long as ${what}, whatever clock is in a header`, async (t) => {
      let nowMs = 0
      const {held, routes} = await hold(
        t,
        (response, {route}) => {
          const told = route.endsWith('/verify') ? {valid: true, ...verified} : granted
          const date = new Date(serverMs - 3_600_000).toUTCString()
          reply(response, 200, {...lease, ...told, expires_unix_ms: serverMs + 40_000}, {date})
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
