import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {draw, minP, softmax, topP} from '../../src/sampling/candidates.js'
import {randomSource} from '../../src/sampling/index.js'
import {finiteTokens, mostLikely} from '../../src/sampling/most-likely.js'

/** Logits with many ties and some non-finite values. */
function manyLogits(seed: number, length: number): Float32Array {
  const random = randomSource(seed)
  return Float32Array.from({length}, () => (random() < 0.05 ? Number.NaN : Math.round((random() - 0.7) * 40) / 4))
}

const descending = (logits: Float32Array) =>
  [...logits.keys()].filter((id) => Number.isFinite(logits[id])).sort((a, b) => logits[b]! - logits[a]! || a - b)

const ascending = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b)

describe('mostLikely', () => {
  for (const k of [0, 1, 2, 3, 7, 40, 250, 299, 300, 1000])
    it(`returns the first ${k} of all tokens in order`, () => {
      for (let seed = 0; seed < 20; seed++) {
        const logits = manyLogits(seed, 300)
        assert.deepEqual([...mostLikely(logits, k)], descending(logits).slice(0, k))
      }
    })

  it('works for ascending and descending logits', () => {
    const rising = Float32Array.from({length: 100}, (_, id) => id)
    assert.deepEqual([...mostLikely(rising, 3)], [99, 98, 97])
    assert.deepEqual([...mostLikely(rising.toReversed(), 3)], [0, 1, 2])
  })

  it('returns only tokens with finite logits', () => {
    const logits = new Float32Array(50).fill(Number.NaN)
    logits.set([2, Infinity, 3, -Infinity, 2], 20)
    assert.deepEqual([...mostLikely(logits, 40)], [22, 20, 24])
  })
})

function softmaxOf(logits: Float32Array, temperature: number) {
  const ids = finiteTokens(logits)
  return softmax(
    ids,
    Float32Array.from(ids, (id) => logits[id]!),
    temperature,
  )
}

describe('topP', () => {
  for (const p of [0, 0.01, 0.3, 0.5, 0.9, 0.99, 0.9999])
    it(`returns the smallest set of tokens with a probability of ${p}`, () => {
      for (let seed = 0; seed < 20; seed++) {
        const logits = manyLogits(seed, 300)
        const order = descending(logits)
        const chances = order.map((id) => Math.exp(logits[id]!))
        const total = chances.reduce((sum, chance) => sum + chance, 0)
        let held = 0
        const end = chances.findIndex((chance) => {
          held += chance / total
          return held >= p
        })
        const {ids} = topP(softmaxOf(logits, 1), p)
        assert.deepEqual(ascending(ids), ascending(order.slice(0, end + 1)))
      }
    })

  it('returns each weight with its token', () => {
    const logits = manyLogits(1, 300)
    const {ids, weights} = minP(topP(softmaxOf(logits, 2), 0.9), 0.2)
    const highest = logits[descending(logits)[0]!]!
    assert.deepEqual(
      [...weights],
      Array.from(ids, (id) => Math.exp((logits[id]! - highest) / 2)),
    )
    assert.ok(weights.every((weight) => weight >= 0.2) && weights.some((weight) => weight < 0.4))
  })
})

describe('draw', () => {
  const candidates = {ids: Uint32Array.of(5, 6, 7, 8), weights: Float64Array.of(0, 1, 0.5, 0.5)}

  for (const [uniform, expected] of [
    [0, 6],
    [0.499, 6],
    [0.5, 7],
    [0.749, 7],
    [0.75, 8],
    [1 - 2 ** -32, 8],
  ] as const)
    it(`selects the token whose interval contains ${uniform}`, () => assert.equal(draw(candidates, uniform), expected))
})
