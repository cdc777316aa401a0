import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createClock, resume, type SavedClock} from '../../../../src/mesh/store/sqlite/clock.js'
import {TestClock} from '../conformance/story.js'

describe('createClock', () => {
  /** Lead over the system clock after a step and some time, ms. */
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
    it(`is ${ahead} ms ahead ${passed} ms after a step of ${step} ms`, () => {
      const machine = new TestClock()
      const clock = createClock(machine.wall, {wallClock: () => machine.wall, monotonic: () => machine.passed})
      machine.step(step)
      machine.advance(passed)
      assert.equal(clock.now() - machine.wall, ahead)
    })

  it('does not go back even if the monotonic clock does', () => {
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

  /** Size of a leap after a step of the system clock, ms. */
  const leaps: readonly (readonly [stepMs: number, byMs: number])[] = [
    [0, 0],
    [5000, 0],
    [5001, 5001],
    [3_600_000, 3_600_000],
    [-3_600_000, 0],
  ]
  for (const [step, by] of leaps)
    it(`leaps by ${by} ms after a step of ${step} ms, and can undo the leap`, () => {
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
  /** Start time and grace period after a restart, by saved state and system time. */
  const restarts: readonly [name: string, saved: SavedClock | undefined, wall: number, start: number, grace: number][] =
    [
      ['without a saved state', undefined, at, at, 0],
      ['immediately', {clock: at, ahead: 0}, at, at, 0],
      ['after a second', {clock: at, ahead: 0}, at + 1000, at + 1000, 1000],
      ['a second before the saved time', {clock: at, ahead: 0}, at - 1000, at, 0],
      ['after an hour', {clock: at, ahead: 0}, at + 3_600_000, at + 3_600_000, 3_600_000],
      ['after the system clock was set back', {clock: at, ahead: 0}, at - 3_600_000, at, 0],
      ['after a crash', {clock: at, ahead: 1000}, at - 900, at, 1000],
      ['a minute after a crash', {clock: at, ahead: 1000}, at + 60_000, at + 60_000, 61_000],
    ]
  for (const [name, kept, wall, start, grace] of restarts)
    it(`resumes ${name}`, () => assert.deepEqual(resume(kept, wall), {start, grace}))
})
