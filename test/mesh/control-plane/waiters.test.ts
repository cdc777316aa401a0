import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf} from '../../../src/errors/index.js'
import {Waiters} from '../../../src/mesh/control-plane/waiters.js'
import {timeoutMs, until} from '../../support/until.js'

/** Wait and safety interval, ms, longer than any test. */
const longMs = 2 * timeoutMs

/** Messages of one receiver, and guests that wait for them; each message is taken by one guest. */
function inbox(test: TestContext, options: {max?: number; safetyMs?: number} = {}) {
  const waiters = new Waiters({max: 1000, safetyMs: longMs, ...options})
  test.after(() => waiters.close())
  const messages: string[] = []
  let looks = 0
  let ended = 0
  const guest = (
    guestOptions: {takes?: boolean; waitMs?: number; gone?: AbortSignal; wants?: (message: string) => boolean} = {},
  ) => {
    const {takes = true, waitMs = longMs, gone = new AbortController().signal, wants = () => true} = guestOptions
    let got: string | undefined
    const look = async () => {
      looks++
      // The result is determined at the end of the check, like in a store that responds after its transaction.
      await sleep(1)
      ended++
      const at = messages.findIndex(wants)
      if (at === -1) return false
      got = takes ? messages.splice(at, 1)[0] : messages[at]
      return true
    }
    return waiters.poll('2', {takes, look, waitMs, gone}).then(() => got)
  }
  const deliver = (message: string) => {
    messages.push(message)
    waiters.notify('2')
  }
  /** Waits until `count` guests are parked. */
  const parked = async (count: number) => {
    const isParked = () => waiters.waiting === count && ended === looks
    await until(isParked, () => `${count} wait: ${waiters.waiting}, ${looks - ended} of them look`)
    await nextTurn()
  }
  return {waiters, messages, guest, deliver, parked, looks: () => looks}
}

describe('Waiters', () => {
  it('returns immediately if there is a message', async (t) => {
    const {messages, guest, waiters} = inbox(t)
    messages.push('a')
    assert.equal(await guest(), 'a')
    assert.equal(waiters.waiting, 0)
  })

  it('returns as soon as a message arrives', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const waiting = guest()
    await parked(1)
    const startedMs = performance.now()
    deliver('a')
    assert.equal(await waiting, 'a')
    assert.ok(performance.now() - startedMs < timeoutMs)
  })

  it('returns a message that arrives during a check', async (t) => {
    for (let i = 0; i < 20; i++) {
      const {guest, deliver, waiters} = inbox(t)
      const waiting = guest()
      // Between check and parking: no parked waiter can be woken.
      if (i % 2 === 0) await Promise.resolve()
      deliver('a')
      assert.equal(await waiting, 'a')
      assert.equal(waiters.waiting, 0)
    }
  })

  it('wakes only one claiming waiter per message', async (t) => {
    const {guest, deliver, looks, parked} = inbox(t)
    const guests = Array.from({length: 100}, () => guest())
    await parked(100)
    const before = looks()
    deliver('a')
    assert.equal(await Promise.race(guests), 'a')
    await parked(99)
    assert.equal(looks() - before, 1)
  })

  it('serves waiters in order of arrival', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const served: number[] = []
    const guests = [0, 1, 2].map(async (i) => {
      await guest()
      served.push(i)
    })
    await parked(3)
    for (const [i, message] of ['a', 'b', 'c'].entries()) {
      deliver(message)
      await parked(2 - i)
    }
    await Promise.all(guests)
    assert.deepEqual(served, [0, 1, 2])
  })

  it('passes a notification on if the woken waiter finds nothing', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const picky = guest({wants: (message) => message === 'b'})
    const easy = guest()
    await parked(2)
    deliver('a')
    assert.equal(await easy, 'a')
    deliver('b')
    assert.equal(await picky, 'b')
  })

  it('distributes simultaneous messages', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const guests = Array.from({length: 20}, () => guest())
    await parked(20)
    const sent = Array.from({length: 20}, (_, i) => `m-${i}`)
    for (const message of sent) deliver(message)
    assert.deepEqual(new Set(await Promise.all(guests)), new Set(sent))
  })

  it('distributes an unknown number of released messages', async (t) => {
    const {guest, messages, waiters, parked} = inbox(t)
    const guests = Array.from({length: 20}, () => guest())
    await parked(20)
    messages.push('a', 'b', 'c')
    const startedMs = performance.now()
    waiters.notifyAll()
    assert.deepEqual(await Promise.all(guests.slice(0, 3)), ['a', 'b', 'c'])
    assert.ok(performance.now() - startedMs < timeoutMs, 'before they look again by themselves')
  })

  it('wakes all readers without affecting claimers', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const lookers = [guest({takes: false}), guest({takes: false})]
    await parked(2)
    deliver('a')
    assert.deepEqual(await Promise.all(lookers), ['a', 'a'])
    assert.equal(await guest(), 'a')
  })

  it('returns after the maximum wait', async (t) => {
    const {guest, waiters} = inbox(t)
    const begun = performance.now()
    assert.equal(await guest({waitMs: 100}), undefined)
    assert.ok(performance.now() - begun >= 99)
    assert.equal(waiters.waiting, 0)
  })

  it('checks again after the safety interval', async (t) => {
    const {guest, messages, looks} = inbox(t, {safetyMs: 30})
    const waiting = guest()
    while (looks() < 2) await sleep(5)
    messages.push('a')
    assert.equal(await waiting, 'a')
  })

  it('passes its notification on when the client disconnects', async (t) => {
    const {guest, deliver, waiters, looks, parked} = inbox(t)
    const client = new AbortController()
    const gone = guest({gone: client.signal})
    const next = guest()
    await parked(2)
    const before = looks()
    deliver('a')
    // Woken, but disconnected before its check.
    client.abort()
    assert.equal(await gone, undefined)
    assert.equal(await next, 'a')
    assert.equal(looks() - before, 1)
    assert.equal(waiters.waiting, 0)
  })

  it('refuses to wait above the limit, unless there is a message', async (t) => {
    const {guest, messages, waiters, parked} = inbox(t, {max: 2})
    const client = new AbortController()
    const first = [guest({gone: client.signal}), guest({gone: client.signal})]
    await parked(2)
    await assert.rejects(guest(), (error) => isErrorOf(error, 'overloaded'))
    messages.push('a')
    assert.equal(await guest(), 'a')
    assert.equal(waiters.waiting, 2)
    client.abort()
    await Promise.all(first)
  })

  it('returns immediately after close', async (t) => {
    const {guest, waiters, parked} = inbox(t)
    const waiting = [guest(), guest({takes: false})]
    await parked(2)
    waiters.close()
    assert.deepEqual(await Promise.all(waiting), [undefined, undefined])
    assert.equal(await guest(), undefined)
  })

  it('rejects if a check fails and passes the notification on', async () => {
    const waiters = new Waiters({max: 10, safetyMs: longMs})
    let isBroken = false
    const gone = new AbortController().signal
    const broken = waiters.poll('2', {
      takes: true,
      waitMs: longMs,
      gone,
      look: async () => {
        if (isBroken) throw new Error('the store is gone')
        return false
      },
    })
    let looks = 0
    const next = waiters.poll('2', {takes: true, waitMs: longMs, gone, look: async () => ++looks === 2})
    await until(() => looks === 1, 'the second one has looked')
    isBroken = true
    waiters.notify('2')
    await assert.rejects(broken, /the store is gone/)
    await next
    assert.equal(waiters.waiting, 0)
  })
})
