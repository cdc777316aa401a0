import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {jittered} from '../../../src/mesh/index.js'
import {randomSource} from '../../../src/sampling/index.js'

describe('an interval with jitter', () => {
  it('is an integer within 10 % of the interval, and the same for the same random numbers', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const [random, same] = [randomSource(seed), randomSource(seed)]
      for (const ms of [0, 1, 999, 1000, 5000, Math.floor(randomSource(-seed)() * 1e7)]) {
        const found = jittered(ms, random)
        assert.ok(Number.isInteger(found) && Math.abs(found - ms) <= ms / 10 + 0.5, `${found} for ${ms}, seed ${seed}`)
        assert.equal(jittered(ms, same), found)
      }
    }
  })

  it('spreads processes that started together', () => {
    const polls = 30
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomSource(seed)
      const times = Array.from({length: 100}, () =>
        Array.from({length: polls}, () => jittered(10_000, random)).reduce((sum, ms) => sum + ms, 0),
      )
      const together = times.map((time) => times.filter((other) => Math.abs(other - time) < 50).length)
      assert.ok(Math.max(...together) < 20, `${Math.max(...together)} of 100 poll within 100 ms, seed ${seed}`)
    }
  })
})
