import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {longestIdle} from '../../src/daemon/idle-connection.js'

const now = 1_000_000
const silentFor = (seconds: number, isIdle = true) => ({isIdle, activeAt: now - seconds * 1000})

describe('the connection that makes room for another one', () => {
  it('has been silent for the longest time', () => {
    const longest = silentFor(300)
    assert.equal(longestIdle([silentFor(61), longest, silentFor(100)], now), longest)
  })

  it('has been so for more than a minute, and waits for nothing', () => {
    assert.equal(longestIdle([silentFor(60), silentFor(0), silentFor(5000, false)], now), undefined)
    assert.equal(longestIdle([], now), undefined)
  })
})
