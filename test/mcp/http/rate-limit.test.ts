import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {RateLimit} from '../../../src/mcp/http/rate-limit.js'

describe('the limit of requests', () => {
  it('lets a client send all of a minute at once, and then as fast as it fills up', () => {
    let now = 0
    const limit = new RateLimit(60, () => now)
    assert.deepEqual(
      Array.from({length: 61}, () => limit.take('a')),
      [...Array.from({length: 60}, () => 0), 1],
    )
    now += 500
    assert.equal(limit.take('a'), 1)
    now += 500
    assert.equal(limit.take('a'), 0)
    assert.equal(limit.take('a'), 1)
    now += 3_600_000
    assert.equal(limit.take('a'), 0)
  })

  it('says how long to wait', () => {
    const limit = new RateLimit(2, () => 0)
    assert.deepEqual([limit.take('a'), limit.take('a'), limit.take('a')], [0, 0, 30])
  })

  it('counts each client by itself', () => {
    const limit = new RateLimit(1, () => 0)
    assert.deepEqual([limit.take('a'), limit.take('b'), limit.take('a')], [0, 0, 60])
  })

  it('is none where it is 0', () => {
    const limit = new RateLimit(0, () => 0)
    assert.ok(Array.from({length: 1000}, () => limit.take('a')).every((wait) => wait === 0))
  })

  it('remembers only so many clients', () => {
    const limit = new RateLimit(1, () => 0)
    for (let i = 0; i < 10_001; i++) limit.take(`client ${i}`)
    assert.equal(limit.take('client 10000'), 60)
    assert.equal(limit.take('client 0'), 0)
  })
})
