import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createClock, resume, type SavedClock} from '../../../../src/mesh/store/sqlite/clock.js'
import {TestClock} from '../conformance/story.js'

describe('a clock', () => {
  /** What the clock says after the machine's was set and time has passed: how far behind or ahead of it, ms. */
  const steps: readonly [stepMs: number, passedMs: number, aheadMs: number][] = [
    [0, 1000, 0],
    [1000, 0, -1000],
    [1000, 10_000, -500],
    [1000, 20_000, 0],
    [1000, 1_000_000, 0],
    [-1000, 10_000, 500],
    [-1000, 20_000, 0],
    [3_600_000, 100_000, -3_595_000],
    [-3_600_000, 100_000, 3_595_000],
  ]
  for (const [step, passed, ahead] of steps)
    it(`is ${ahead} ms ahead when the machine's was set by ${step} ms and ${passed} ms have passed`, () => {
      const machine = new TestClock()
      const clock = createClock(machine.wall, {wallClock: () => machine.wall, monotonic: () => machine.passed})
      machine.step(step)
      machine.advance(passed)
      assert.equal(clock.now() - machine.wall, ahead)
    })

  it('does not go back where even the monotonic clock does', () => {
    const machine = new TestClock()
    const clock = createClock(machine.wall, {wallClock: () => machine.wall, monotonic: () => machine.passed})
    machine.advance(1000)
    const before = clock.now()
    machine.advance(-500)
    assert.equal(clock.now(), before)
    machine.advance(500)
    assert.equal(clock.now(), before)
    machine.advance(500)
    assert.equal(clock.now(), before + 500)
  })

  /** How far it goes at once, when it is told to and the machine's was set, ms. */
  const leaps: readonly (readonly [stepMs: number, byMs: number])[] = [
    [0, 0],
    [5000, 0],
    [5001, 5001],
    [3_600_000, 3_600_000],
    [-3_600_000, 0],
  ]
  for (const [step, by] of leaps)
    it(`goes ${by} ms at once when the machine's was set by ${step} ms, and back when that is undone`, () => {
      const machine = new TestClock()
      const clock = createClock(machine.wall, {wallClock: () => machine.wall, monotonic: () => machine.passed})
      const before = clock.now()
      machine.step(step)
      const {byMs, undo} = clock.leap()
      assert.deepEqual([byMs, clock.now() - before], [by, by])
      undo()
      assert.equal(clock.now(), before)
    })

  const at = 1_000_000_000
  /** Where it goes on, after it was left at `at`: the machine's clock then, and the grace for what was held. */
  const restarts: readonly [name: string, saved: SavedClock | undefined, wall: number, start: number, grace: number][] =
    [
      ['for the first time', undefined, at, at, 0],
      ['at once', {clock: at, ahead: 0}, at, at, 0],
      ['after a second', {clock: at, ahead: 0}, at + 1000, at + 1000, 1000],
      ['after a second less than it had written', {clock: at, ahead: 0}, at - 1000, at, 0],
      ['after an hour', {clock: at, ahead: 0}, at + 3_600_000, at + 3_600_000, 3_600_000],
      ['with a clock that was set back', {clock: at, ahead: 0}, at - 3_600_000, at, 0],
      ['after its process died', {clock: at, ahead: 1000}, at - 900, at, 1000],
      ['a minute after that', {clock: at, ahead: 1000}, at + 60_000, at + 60_000, 61_000],
    ]
  for (const [name, kept, wall, start, grace] of restarts)
    it(`goes on ${name}`, () => assert.deepEqual(resume(kept, wall), {start, grace}))
})
