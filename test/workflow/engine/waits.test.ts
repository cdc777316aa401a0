import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {Suspension} from '../../../src/workflow/engine/control-errors.js'
import {type Condition, Waits} from '../../../src/workflow/engine/waits.js'

const {signal} = new AbortController()

/** Waits on a clock that only the test moves; `idle` counts how often all activities waited. */
function openWaits(test: TestContext) {
  const clock = {now: 1000, idle: 0}
  const waits = new Waits(
    () => clock.now,
    () => {
      clock.idle++
    },
  )
  test.after(() => waits.close())
  return {waits, clock}
}

/** A condition that the test meets. */
function condition(name: string, more: Partial<Condition> = {}): Condition & {isMet: boolean} {
  return {
    ...{name, kind: 'signal' as const, key: name, prompt: undefined, wakeAtMs: undefined, isMet: false},
    isReady() {
      return this.isMet
    },
    ...more,
  }
}

const turn = () => new Promise(setImmediate)

describe('the waits of a run', () => {
  it('end when their condition is met, each by itself', async (test) => {
    const {waits} = openWaits(test)
    const [first, second] = [condition('first'), condition('second')]
    const ended: string[] = []
    const all = [first, second].map((each) => waits.until(each, signal).then(() => ended.push(each.name)))
    assert.equal(waits.isReady, false)
    second.isMet = true
    assert.equal(waits.isReady, true)
    waits.check()
    await all[1]
    assert.deepEqual(ended, ['second'])
    assert.deepEqual(
      waits.waitingFor.map(({key}) => key),
      ['first'],
    )
    first.isMet = true
    waits.check()
    await all[0]
    assert.deepEqual(waits.waitingFor, [])
  })

  it('are idle once nothing else runs', async (test) => {
    const {waits, clock} = openWaits(test)
    let finish = () => {}
    const work = waits.during(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    const wait = waits.until(condition('key'), signal)
    await turn()
    assert.equal(clock.idle, 0)
    finish()
    await work
    await turn()
    assert.equal(clock.idle, 1)
    waits.suspend()
    await assert.rejects(wait, Suspension)
  })

  it('stay in the process again after work that fails', async (test) => {
    const {waits, clock} = openWaits(test)
    const failure = new Error('failed')
    await assert.rejects(
      waits.during(() => Promise.reject(failure)),
      failure,
    )
    const wait = waits.until(condition('key'), signal)
    await turn()
    assert.equal(clock.idle, 1)
    waits.suspend()
    await assert.rejects(wait, Suspension)
  })

  it('wake at the earliest time of all conditions', async (test) => {
    const {waits, clock} = openWaits(test)
    const due = condition('due', {wakeAtMs: clock.now, isReady: () => true})
    const later = waits.until(condition('later', {wakeAtMs: clock.now + 3_600_000}), signal)
    assert.equal(waits.wakeAtMs, clock.now + 3_600_000)
    const soon = waits.until(due, signal)
    assert.equal(waits.wakeAtMs, clock.now)
    await soon
    assert.equal(waits.wakeAtMs, clock.now + 3_600_000)
    waits.suspend()
    await assert.rejects(later, Suspension)
    assert.equal(waits.wakeAtMs, undefined)
  })

  it('end with the reason of their signal, and leave the others', async (test) => {
    const {waits} = openWaits(test)
    const abort = new AbortController()
    const reason = new Error('stop')
    const other = waits.until(condition('other'), signal)
    const wait = waits.until(condition('key'), abort.signal)
    abort.abort(reason)
    await assert.rejects(wait, reason)
    await assert.rejects(waits.until(condition('late'), abort.signal), reason)
    assert.deepEqual(
      waits.suspend().map(({name}) => name),
      ['other'],
    )
    await assert.rejects(other, Suspension)
  })
})
