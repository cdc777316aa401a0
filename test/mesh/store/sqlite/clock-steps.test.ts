import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {suiteFolder} from '../../../support/temporary.js'
import {begin, day, endOf, hour, leaseMs, refused} from '../conformance/story.js'
import {openIn} from './open-store.js'

describe('store clock', () => {
  const open = openIn(suiteFolder())

  /** Steps of the system clock while leases and claims are held. */
  for (const step of [-hour, -leaseMs, -1000, 1000, 5000, leaseMs, hour, 24 * hour])
    it(`changes expiries by at most 5 % after a step of ${step} ms`, async (t) => {
      const story = await begin(t, open)
      await story.join('n2')
      const before = story.store.now()
      const {lease_id: lease} = await story.grant('n1', 'task:1')
      const message = await story.deliver()
      await story.claim('n1')
      story.clock.step(step)
      assert.equal(story.store.now(), before)
      story.clock.advance(leaseMs * 0.94)
      await refused(story.grant('n2', 'task:1'), 'lease_held')
      assert.equal(await story.claim('n2'), undefined)
      story.clock.advance(leaseMs * 0.12)
      assert.equal(await endOf(story.store.renewLease('', {lease, claimer: 'n1'})), 'lease_not_found')
      assert.equal((await story.claim('n2'))?.id, message)
    })

  for (const step of [-hour, hour])
    it(`ends no holds if the system clock is set by ${step} ms before a restart`, async (t) => {
      const story = await begin(t, open)
      const {lease_id: lease} = await story.grant('n1', 'task:1')
      story.clock.step(step)
      await story.beat('n1')
      await story.store.renewLease('', {lease, claimer: 'n1'})
      await story.restart(1000)
      await story.store.renewLease('', {lease, claimer: 'n1'})
    })

  it('never goes back and approaches the system clock', async (t) => {
    const story = await begin(t, open)
    let last = story.store.now()
    for (const step of [0, -hour, 5000, -5000, 100, -100]) {
      story.clock.step(step)
      for (let i = 0; i < 100; i++) {
        story.clock.advance(i)
        assert.ok(story.store.now() >= last)
        last = story.store.now()
      }
    }
    story.clock.advance(30 * hour)
    assert.ok(Math.abs(story.store.now() - story.clock.wall) <= 1)
    story.clock.step(-hour)
    await story.restart()
    assert.ok(story.store.now() >= last)
  })

  it('follows a forward step immediately, but does not purge for an hour', async (t) => {
    const story = await begin(t, open)
    const key = {idempotency_key: 'key'}
    const id = await story.deliver(key)
    await story.ack(id)
    story.clock.step(2 * day)
    await story.beat('n1')
    assert.equal(story.store.now(), story.clock.wall)
    story.clock.advance(hour - 1)
    while (await story.store.purge());
    assert.equal(await story.deliver(key), id)
    story.clock.advance(1)
    while (await story.store.purge());
    assert.notEqual(await story.deliver(key), id)
  })

  it('determines last-seen times', async (t) => {
    const story = await begin(t, open)
    const {last_seen_unix_ms: first} = await story.beat('n1')
    story.clock.step(-hour)
    const seen = [first]
    for (const step of [10, 0, 1000, leaseMs]) {
      story.clock.advance(step)
      seen.push((await story.beat('n1')).last_seen_unix_ms)
    }
    await story.restart(1000)
    seen.push((await story.node('n1'))?.last_seen_unix_ms ?? 0, (await story.beat('n1')).last_seen_unix_ms)
    assert.deepEqual(seen, seen.toSorted())
  })

  it('extends leases by the downtime', async (t) => {
    const story = await begin(t, open)
    const {lease_id: lease} = await story.grant('n1', 'task:1')
    story.clock.advance(leaseMs - 1000)
    await story.restart(2 * leaseMs + 1)
    const {expires_unix_ms: until} = await story.store.verifyLease('', {lease, scopeKey: 'task:1'})
    assert.equal(until - story.clock.wall, 1000)
    await story.store.renewLease('', {lease, claimer: 'n1'})
    story.clock.advance(leaseMs)
    await story.restart(2 * leaseMs + 1)
    await refused(story.store.renewLease('', {lease, claimer: 'n1'}), 'lease_not_found')
  })

  it('extends claims by the downtime', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const id = await story.deliver()
    await story.claim('n1')
    story.clock.advance(leaseMs - 1000)
    await story.restart(2 * leaseMs + 1)
    assert.equal(await story.claim('n2'), undefined)
    await story.store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'})
    story.clock.advance(leaseMs)
    await story.restart(2 * leaseMs + 1)
    assert.equal((await story.claim('n2'))?.id, id)
  })
})
