import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {randomSource} from '../../src/sampling/index.js'

describe('randomSource', () => {
  it('returns the published numbers of its algorithm', () => {
    const random = randomSource(0)
    assert.deepEqual(
      Array.from({length: 3}, () => Math.floor(random() * 2 ** 32)),
      [1144304738, 1416247, 958946056],
    )
  })
})
