import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {longestIdle} from '../../src/daemon/idle-connection.js'

const now = 1_000_000
const silentFor = (seconds: number, isIdle = true) => ({isIdle, activeAt: now - seconds * 1000})

describe('longestIdle', () => {
  it('finds the connection that has been idle longest', () => {
    const longest = silentFor(300)
    assert.equal(longestIdle([silentFor(61), longest, silentFor(100)], now), longest)
  })

  it('ignores busy connections and those idle for less than a minute', () => {
    assert.equal(longestIdle([silentFor(60), silentFor(0), silentFor(5000, false)], now), undefined)
    assert.equal(longestIdle([], now), undefined)
  })
})
