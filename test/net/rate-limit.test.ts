import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createRateLimit} from '../../src/net/index.js'

describe('createRateLimit', () => {
  it('permits a burst, then the configured rate', () => {
    const limit = createRateLimit({perSecond: 10, burst: 20})
    const passed = (atMs: number) => {
      let count = 0
      while (limit.take('a', atMs) === 0) count += 1
      return count
    }
    assert.equal(passed(0), 20)
    assert.equal(passed(50), 0)
    assert.equal(passed(1000), 10)
    assert.equal(passed(3_600_000), 20)
  })

  it('returns the time to wait, after which a request is permitted', () => {
    const limit = createRateLimit({perSecond: 3, burst: 1})
    assert.equal(limit.take('a', 0), 0)
    const ms = limit.take('a', 0)
    assert.equal(ms, 334)
    assert.equal(limit.wait('a', ms - 2), 2)
    assert.equal(limit.take('a', ms), 0)
  })

  it('permits the requests of a minute at once, then as the bucket refills', () => {
    const limit = createRateLimit({perSecond: 1, burst: 60})
    assert.deepEqual(
      Array.from({length: 61}, () => limit.take('a', 0)),
      [...Array.from({length: 60}, () => 0), 1000],
    )
    assert.deepEqual(
      [500, 1000, 1000, 3_601_000].map((atMs) => limit.take('a', atMs)),
      [500, 0, 1000, 0],
    )
  })

  it('returns the time to wait for rates below one per second', () => {
    const limit = createRateLimit({perSecond: 2 / 60, burst: 2})
    assert.deepEqual([limit.take('a', 0), limit.take('a', 0), limit.take('a', 0)], [0, 0, 30_000])
  })

  it('takes no token for refused requests and wait()', () => {
    const limit = createRateLimit({perSecond: 1, burst: 2})
    for (let asked = 0; asked < 5; asked++) assert.equal(limit.wait('a', 0), 0)
    assert.deepEqual([limit.take('a', 0), limit.take('a', 0)], [0, 0])
    for (let refused = 0; refused < 5; refused++) assert.equal(limit.take('a', 900), 100)
    assert.equal(limit.take('a', 1000), 0)
  })

  it('has a bucket per caller', () => {
    const limit = createRateLimit({perSecond: 1, burst: 1})
    assert.deepEqual([limit.take('a', 0), limit.take('b', 0), limit.take('a', 0)], [0, 0, 1000])
  })

  it('does not refill if the clock goes back', () => {
    const limit = createRateLimit({perSecond: 1, burst: 1})
    assert.equal(limit.take('a', 10_000), 0)
    assert.equal(limit.take('a', 5000), 1000)
  })

  it('forgets the caller that has been silent longest', () => {
    const limit = createRateLimit({perSecond: 1, burst: 1})
    limit.take('busy', 0)
    for (let other = 0; other < 20_000; other++) {
      limit.take(`other-${other}`, 1)
      if (other % 1000 === 0) assert.ok(limit.take('busy', 1) > 0)
    }
    assert.equal(limit.wait('other-0', 1), 0)
    assert.ok(limit.wait('other-19999', 1) > 0)
  })

  it('remembers 10,000 callers', () => {
    const limit = createRateLimit({perSecond: 1 / 60, burst: 1})
    for (let i = 0; i < 10_001; i++) limit.take(`caller ${i}`, 0)
    assert.equal(limit.take('caller 10000', 0), 60_000)
    assert.equal(limit.take('caller 0', 0), 0)
  })
})
