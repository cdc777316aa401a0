import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  filterTrust,
  newStanding,
  observeOutcome,
  reliabilityOf,
  rollUp,
  type Standing,
} from '../../src/tasks/agents/reliability.js'

const near = (actual: number, expected: number, within = 1e-9) =>
  assert.ok(Math.abs(actual - expected) < within, `${actual}`)

describe('reliability', () => {
  const rows: [successes: number, failures: number, reliability: number][] = [
    [0, 0, 0.5],
    [1, 0, 2 / 3],
    [0, 1, 1 / 3],
    [2, 1, 0.6],
    [4, 0, 5 / 6],
    [5, 0, 6 / 7],
    [11, 1, 12 / 14],
  ]
  for (const [successes, failures, reliability] of rows)
    it(`is ${reliability.toFixed(3)} after ${successes} successes and ${failures} failures`, () => {
      near(reliabilityOf(successes, failures), reliability)
    })
})

describe('a moving average', () => {
  const roll = (values: number[], alpha: number, weight = 1) =>
    values.reduce<number | undefined>((score, value) => rollUp(score, {value, weight}, alpha), undefined)

  it('starts at the first value and moves by a share of each later one', () => {
    assert.equal(roll([1], 0.1), 1)
    near(roll([1, 0], 0.1) as number, 0.9)
    near(roll([1, 0, 1], 0.1) as number, 0.91)
    near(rollUp(0.5, {value: 0.5}, 0.1), 0.5)
  })

  it('weights observations', () => {
    near(rollUp(0.5, {value: 1, weight: 0.5}, 0.2), 0.5)
    near(rollUp(0.5, {value: 1, weight: 7}, 0.2), 0.6)
  })

  it('keeps values and shares within their bounds', () => {
    assert.equal(rollUp(undefined, {value: 3}, 0.1), 1)
    assert.equal(rollUp(undefined, {value: -3}, 0.1), 0)
    near(rollUp(1, {value: 0}, 0), 0.99)
    assert.equal(rollUp(1, {value: 0}, 9), 0)
  })
})

describe('the trust in an agent', () => {
  it('follows outcomes, the more so the less is known', () => {
    const once = filterTrust(newStanding, 1)
    near(once.trust, 0.8592, 5e-5)
    near(once.variance, 0.0718, 5e-5)
    const twice = filterTrust(once, 0)
    assert.ok(once.trust - twice.trust < 0.5)
    assert.ok(twice.variance < once.variance)
  })

  it('never leaves 0 to 1, and the variance settles', () => {
    let standing: Pick<Standing, 'trust' | 'variance'> = {trust: 1, variance: 50}
    for (let i = 0; i < 200; i++) {
      standing = filterTrust(standing, i % 7 === 0 ? 1 : 0)
      assert.ok(standing.trust >= 0 && standing.trust <= 1)
    }
    // The filter's fixed point: p² − 0.005 p − 0.0005 = 0 for the variance before an outcome.
    const before = (0.005 + Math.sqrt(0.005 ** 2 + 4 * 0.0005)) / 2
    near(standing.variance, before - 0.005, 1e-9)
  })
})

describe('the tier of an agent', () => {
  const policy = {trustProvisionalThreshold: 5, trustTrustedThreshold: 20}
  const after = (outcomes: boolean[], from = newStanding) =>
    outcomes.reduce((standing, succeeded) => observeOutcome(standing, succeeded, policy), from)
  const times = (count: number, succeeded: boolean) => Array.from({length: count}, () => succeeded)

  it('rises with outcomes and trust', () => {
    assert.deepEqual(
      [0, 4, 5, 19, 20, 500].map((count) => after(times(count, true)).tier),
      ['untrusted', 'untrusted', 'provisional', 'provisional', 'trusted', 'trusted'],
    )
  })

  it('rises at the floor of the next one, not below', () => {
    const steady = {variance: 0, outcomes: 30}
    const tierAt = (trust: number) => {
      // With variance 0, an outcome moves the trust by 1/21 of the distance.
      const before = (trust * 21 - 1) / 20
      return observeOutcome({...newStanding, ...steady, trust: before}, true, policy).tier
    }
    assert.deepEqual([0.449, 0.451, 0.699, 0.701].map(tierAt), ['untrusted', 'provisional', 'provisional', 'trusted'])
  })

  it('is kept by a successful agent', () => {
    const system: Standing = {...newStanding, trust: 0.95, variance: 0.05, tier: 'system', outcomes: 100}
    const later = after(times(9, true), system)
    assert.deepEqual([later.tier, later.belowFloor], ['system', 0])
  })

  it('depends on the trust after the outcomes', () => {
    near(after([true]).trust, 0.8592, 5e-5)
    near(after([false]).trust, 1 - 0.8592, 5e-5)
  })

  it('does not rise with outcomes alone', () => {
    const {tier, outcomes} = after(times(50, false))
    assert.deepEqual([tier, outcomes], ['untrusted', 50])
  })

  it('falls by one after three consecutive outcomes below its floor', () => {
    const low: Standing = {...newStanding, trust: 0.3, variance: 0.01, tier: 'trusted', outcomes: 40}
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 9].map((count) => after(times(count, false), low).tier),
      ['trusted', 'trusted', 'provisional', 'provisional', 'provisional', 'untrusted', 'untrusted'],
    )
  })

  it('restarts the count once the trust is above the floor again', () => {
    const low: Standing = {...newStanding, trust: 0.71, variance: 0.001, tier: 'trusted', outcomes: 40}
    const twice = after([false, false], low)
    assert.deepEqual([twice.tier, twice.belowFloor], ['trusted', 2])
    const recovered = after([true, true, true], {...twice, trust: 0.71})
    assert.deepEqual([recovered.tier, recovered.belowFloor], ['trusted', 0])
  })

  it('system can be lost like any other, and is only assigned by a person', () => {
    const system: Standing = {...newStanding, trust: 0.95, variance: 0.05, tier: 'system', outcomes: 100}
    assert.equal(after([false, false], system).tier, 'system')
    assert.equal(after([false, false, false], system).tier, 'trusted')
    assert.equal(after(times(1000, true)).tier, 'trusted')
  })

  it('stays pinned, with its trust, if a person has set it', () => {
    const pinned: Standing = {...newStanding, trust: 0.2, tier: 'trusted', pinned: true}
    assert.deepEqual(after(times(9, false), pinned), {...pinned, outcomes: 9})
  })
})
