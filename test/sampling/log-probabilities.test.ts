import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {logProbabilities} from '../../src/sampling/index.js'
import {logitsOf, sampling} from './drawing.js'

const logits = logitsOf(0.1, 0.2, 0.4, 0.3)
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not near ${expected}`)

describe('logProbabilities', () => {
  it('returns natural logarithms of the softmax', () => {
    for (const [token, p] of [0.1, 0.2, 0.4, 0.3].entries())
      near(logProbabilities(logits, token, 0).logprob, Math.log(p))
  })

  it('is independent of an offset of the logits', () => {
    for (const offset of [-500, -3, 7, 5000]) {
      const {logprob} = logProbabilities(Float32Array.of(offset, offset, offset, offset), 1, 0)
      near(logprob, Math.log(1 / 4))
    }
  })

  it('returns negative values that sum to a probability of 1 over the vocabulary', () => {
    const spread = Float32Array.from({length: 1000}, (_, id) => 8 * Math.sin(id))
    const {top} = logProbabilities(spread, 0, 1000)
    assert.equal(top.length, 1000)
    assert.ok(top.every(({logprob}) => logprob < 0))
    near(
      top.reduce((sum, {logprob}) => sum + Math.exp(logprob), 0),
      1,
    )
  })

  const tops: [string, Float32Array, number, number[]][] = [
    ['none for a count of 0', logits, 0, []],
    ['best first', logits, 3, [2, 3, 1]],
    ['no more than the vocabulary', logits, 20, [2, 3, 1, 0]],
    ['the lower id first on ties', Float32Array.of(1, 5, 5, 1, 5), 4, [1, 2, 4, 0]],
    ['no token with a non-finite logit', Float32Array.of(Number.NaN, 1, Infinity, 2, -Infinity), 4, [3, 1]],
  ]
  for (const [name, input, count, expected] of tops)
    it(`returns the most likely tokens: ${name}`, () => {
      const {top} = logProbabilities(input, 0, count)
      assert.deepEqual(
        top.map(({token}) => token),
        expected,
      )
      for (const {token, logprob} of top) assert.equal(logprob, logProbabilities(input, token, 0).logprob)
    })

  it('excludes non-finite logits from the sum', () => {
    const broken = Float32Array.of(Number.NaN, Math.log(3), Infinity, 0, -Infinity)
    near(logProbabilities(broken, 1, 0).logprob, Math.log(3 / 4))
    for (const token of [0, 2, 4, 99]) assert.equal(logProbabilities(broken, token, 0).logprob, -Infinity)
    assert.deepEqual(logProbabilities(Float32Array.of(Number.NaN), 0, 1), {logprob: -Infinity, top: []})
  })

  it('uses the unmodified logits after a sampler has used them', () => {
    const input = logits.slice()
    const before = logProbabilities(input, 0, 4)
    const token = sampling({temperature: 3, presencePenalty: 2, logitBias: {0: 100}})(input, [0])
    assert.equal(token, 0)
    assert.deepEqual(logProbabilities(input, token, 4), before)
    assert.deepEqual(input, logits)
  })
})
