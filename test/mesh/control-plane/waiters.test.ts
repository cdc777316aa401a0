import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {setImmediate as nextTurn, setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf} from '../../../src/errors/index.js'
import {Waiters} from '../../../src/mesh/control-plane/waiters.js'
import {timeoutMs, until} from '../../support/until.js'

/** How long guests wait, and until they look again by themselves, ms: no machine is so slow. */
const longMs = 2 * timeoutMs

/** Messages of one receiver, each of which one guest takes away, and the guests that wait for them. */
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
      // What is there is seen at the end of the look, as in a store that answers after its transaction.
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
  /** Until as many guests are left, all of whom have looked and found nothing. */
  const parked = async (count: number) => {
    const isParked = () => waiters.waiting === count && ended === looks
    await until(isParked, () => `${count} wait: ${waiters.waiting}, ${looks - ended} of them look`)
    await nextTurn()
  }
  return {waiters, messages, guest, deliver, parked, looks: () => looks}
}

describe('who waits for messages', () => {
  it('has what is there at once', async (t) => {
    const {messages, guest, waiters} = inbox(t)
    messages.push('a')
    assert.equal(await guest(), 'a')
    assert.equal(waiters.waiting, 0)
  })

  it('has what comes, as soon as it comes', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const waiting = guest()
    await parked(1)
    const told = performance.now()
    deliver('a')
    assert.equal(await waiting, 'a')
    assert.ok(performance.now() - told < timeoutMs)
  })

  it('has what comes while it looks', async (t) => {
    for (let i = 0; i < 20; i++) {
      const {guest, deliver, waiters} = inbox(t)
      const waiting = guest()
      // Between the look and the parking: nobody is parked who could be woken.
      if (i % 2 === 0) await Promise.resolve()
      deliver('a')
      assert.equal(await waiting, 'a')
      assert.equal(waiters.waiting, 0)
    }
  })

  it('is alone in looking for a message that only one can have', async (t) => {
    const {guest, deliver, looks, parked} = inbox(t)
    const guests = Array.from({length: 100}, () => guest())
    await parked(100)
    const before = looks()
    deliver('a')
    assert.equal(await Promise.race(guests), 'a')
    await parked(99)
    assert.equal(looks() - before, 1)
  })

  it('waits in turn: who came first is served first', async (t) => {
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

  it('passes on what it may not have', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const picky = guest({wants: (message) => message === 'b'})
    const easy = guest()
    await parked(2)
    deliver('a')
    assert.equal(await easy, 'a')
    deliver('b')
    assert.equal(await picky, 'b')
  })

  it('each has one of the messages that come at once', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const guests = Array.from({length: 20}, () => guest())
    await parked(20)
    const sent = Array.from({length: 20}, (_, i) => `m-${i}`)
    for (const message of sent) deliver(message)
    assert.deepEqual(new Set(await Promise.all(guests)), new Set(sent))
  })

  it('each has one of the messages that a node gives back, whose number nobody tells', async (t) => {
    const {guest, messages, waiters, parked} = inbox(t)
    const guests = Array.from({length: 20}, () => guest())
    await parked(20)
    messages.push('a', 'b', 'c')
    const told = performance.now()
    waiters.notifyAll()
    assert.deepEqual(await Promise.all(guests.slice(0, 3)), ['a', 'b', 'c'])
    assert.ok(performance.now() - told < timeoutMs, 'before they look again by themselves')
  })

  it('may look only, all at once, and takes nothing from who takes', async (t) => {
    const {guest, deliver, parked} = inbox(t)
    const lookers = [guest({takes: false}), guest({takes: false})]
    await parked(2)
    deliver('a')
    assert.deepEqual(await Promise.all(lookers), ['a', 'a'])
    assert.equal(await guest(), 'a')
  })

  it('comes back with nothing when its time is up', async (t) => {
    const {guest, waiters} = inbox(t)
    const begun = performance.now()
    assert.equal(await guest({waitMs: 100}), undefined)
    assert.ok(performance.now() - begun >= 99)
    assert.equal(waiters.waiting, 0)
  })

  it('looks again after a while: what was claimed comes back without news', async (t) => {
    const {guest, messages, looks} = inbox(t, {safetyMs: 30})
    const waiting = guest()
    while (looks() < 2) await sleep(5)
    messages.push('a')
    assert.equal(await waiting, 'a')
  })

  it('frees its place when its client goes, takes nothing, and passes on what it was woken for', async (t) => {
    const {guest, deliver, waiters, looks, parked} = inbox(t)
    const client = new AbortController()
    const gone = guest({gone: client.signal})
    const next = guest()
    await parked(2)
    const before = looks()
    deliver('a')
    // Woken, and gone before it can look.
    client.abort()
    assert.equal(await gone, undefined)
    assert.equal(await next, 'a')
    assert.equal(looks() - before, 1)
    assert.equal(waiters.waiting, 0)
  })

  it('is turned away where too many wait, unless there is something for it', async (t) => {
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

  it('comes back at once when the server stops, then and later', async (t) => {
    const {guest, waiters, parked} = inbox(t)
    const waiting = [guest(), guest({takes: false})]
    await parked(2)
    waiters.close()
    assert.deepEqual(await Promise.all(waiting), [undefined, undefined])
    assert.equal(await guest(), undefined)
  })

  it('is told what went wrong, and the next one has the message', async () => {
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
