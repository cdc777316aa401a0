import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import type {SamplingOptions} from '../../src/sampling/index.js'
import {logitBias} from '../../src/sampling/logit-bias.js'
import {assertFrequencies, frequencies, logitsOf, sampling} from './drawing.js'

const input = [4, -4, 0, 2]
const {NaN: nan} = Number
const out = -Infinity

describe('logitBias', () => {
  const table: [string, Record<number, number>, number[]][] = [
    ['adds', {0: 1.5, 1: -1, 2: 3}, [5.5, -5, 3, 2]],
    ['adds values just within its range', {0: 99.5, 1: -99.5}, [103.5, -103.5, 0, 2]],
    ['bans at -100', {0: -100}, [out, -4, 0, 2]],
    ['bans below -100', {0: -1000, 3: -Infinity}, [out, -4, 0, out]],
    ['forces at 100', {1: 100}, [out, -4, out, out]],
    ['forces above 100', {2: 1000}, [out, out, 0, out]],
    ['forces the token with the highest logit, not the highest bias', {1: 200, 2: 150, 3: 100}, [out, out, out, 2]],
    ['prefers forcing over adding', {0: 99, 1: 100}, [out, -4, out, out]],
    ['prefers forcing over banning', {0: -100, 1: 100}, [out, -4, out, out]],
    ['ignores ids outside the vocabulary', {9: 1, 10: -100, 11: 100, [-1]: 100, 0.5: 100, 3: 1}, [4, -4, 0, 3]],
  ]
  for (const [name, bias, expected] of table)
    it(name, () => {
      const logits = Float32Array.from(input)
      logitBias(bias)?.(logits, [])
      assert.deepEqual([...logits], expected)
    })

  it('forces the lowest id on ties', () => {
    const logits = Float32Array.of(9, 1, 1)
    logitBias({2: 100, 1: 100})?.(logits, [])
    assert.deepEqual([...logits], [out, 1, out])
  })

  it('returns undefined if there is no bias', () => {
    assert.equal(logitBias({}), undefined)
    assert.equal(logitBias({3: 0}), undefined)
  })
})

describe('sampling with a logit bias', () => {
  const logits = logitsOf(0.1, 0.2, 0.4, 0.3)

  const table: [string, Partial<SamplingOptions>, number[]][] = [
    ['multiplies the odds', {logitBias: {0: Math.log(4)}}, [4 / 13, 2 / 13, 4 / 13, 3 / 13]],
    ['never draws a banned token', {logitBias: {2: -100}}, [1 / 6, 2 / 6, 0, 3 / 6]],
    ['keeps a banned token out of top-k', {logitBias: {2: -100}, topK: 2}, [0, 2 / 5, 0, 3 / 5]],
    ['always draws a forced token', {logitBias: {0: 100}}, [1, 0, 0, 0]],
    ['always draws the forced token with the highest logit', {logitBias: {0: 100, 1: 100}}, [0, 1, 0, 0]],
    ['penalties do not undo a forced token', {logitBias: {0: 100, 1: 100}, presencePenalty: 500}, [0, 1, 0, 0]],
    ['penalties do not undo a ban', {logitBias: {2: -100}, presencePenalty: -500}, [1 / 6, 2 / 6, 0, 3 / 6]],
  ]
  for (const [name, options, expected] of table) {
    const history = name.endsWith('ban') ? [2] : [1]
    it(name, () => assertFrequencies(frequencies(options, logits, history), expected))
  }

  it('applies to greedy sampling', () => {
    assert.equal(sampling({temperature: 0, logitBias: {0: 2}})(logits, []), 0)
    assert.equal(sampling({temperature: 0, logitBias: {2: -100}})(logits, []), 3)
    assert.equal(sampling({temperature: 0, logitBias: {0: 100}})(logits, []), 0)
  })

  it('cannot force or raise a token with a non-finite logit', () => {
    const broken = Float32Array.of(nan, Infinity, 1, 2)
    assert.equal(sampling({temperature: 0, logitBias: {0: 100, 1: 100, 2: 100}})(broken, []), 2)
    assert.equal(sampling({temperature: 0, logitBias: {0: 50, 1: -50}})(broken, []), 3)
    assert.throws(
      () => sampling({temperature: 0, logitBias: {0: 100}})(broken, []),
      (error) => isErrorOf(error, 'generation_failed'),
    )
  })
})
