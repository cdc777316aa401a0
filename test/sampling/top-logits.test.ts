import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  createSampler,
  createTopSampler,
  defaultSampling,
  logProbabilities,
  logSumExp,
  randomSource,
  type SamplingOptions,
  topLogits,
  topLogProbabilities,
} from '../../src/sampling/index.js'
import {mostLikely} from '../../src/sampling/most-likely.js'

/** Logits with many ties. */
function manyLogits(seed: number): Float32Array {
  const random = randomSource(seed)
  return Float32Array.from({length: 300}, () => Math.round((random() - 0.7) * 40) / 4)
}

/** The 64 most likely tokens, given in reverse order. */
function topOf(logits: Float32Array) {
  const ids = mostLikely(logits, 64).reverse()
  return topLogits(
    BigInt64Array.from(ids, BigInt),
    Float32Array.from(ids, (id) => logits[id]!),
    logSumExp(logits),
  )
}

const optionsThatNeedFew: Record<string, Partial<SamplingOptions>> = {
  'temperature 0': {temperature: 0, topK: 0},
  'the default': {},
  'top-k of 64': {topK: 64, topP: 1},
  'top-k of 1': {topK: 1},
  'top-p and min-p': {topP: 0.5, minP: 0.3, temperature: 2},
}

describe('createTopSampler', () => {
  for (const [name, changes] of Object.entries(optionsThatNeedFew))
    it(`selects the same tokens as from all logits: ${name}`, () => {
      const options = {...defaultSampling, ...changes, seed: 7}
      const sample = createSampler(options)
      const sampleTop = createTopSampler(options, 64)
      for (let seed = 0; seed < 200; seed++) {
        const logits = manyLogits(seed)
        assert.equal(sampleTop?.(topOf(logits)), sample(logits, []))
      }
    })

  for (const [name, changes] of Object.entries({
    'no top-k': {topK: 0},
    'a larger top-k': {topK: 65},
    'a bias': {logitBias: {5: 1}},
    'a penalty': {repeatPenalty: 1.1},
  }))
    it(`is not possible with ${name}`, () => {
      assert.equal(createTopSampler({...defaultSampling, ...changes}, 64), undefined)
    })

  it('rejects logits of which none is finite', () => {
    const top = topLogits(BigInt64Array.of(0n, 1n), Float32Array.of(Number.NaN, Infinity), Number.NaN)
    for (const temperature of [0, 1])
      assert.throws(() => createTopSampler({...defaultSampling, temperature}, 64)?.(top), {code: 'generation_failed'})
  })
})

it('topLogProbabilities returns the same as logProbabilities', () => {
  for (let seed = 0; seed < 20; seed++) {
    const logits = manyLogits(seed)
    const token = mostLikely(logits, 30).at(-1)!
    assert.deepEqual(topLogProbabilities(topOf(logits), token, 20), logProbabilities(logits, token, 20))
  }
})
