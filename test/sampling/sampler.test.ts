import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {randomSource, type SamplingOptions} from '../../src/sampling/index.js'
import {assertFrequencies, frequencies, logitsOf, sampling} from './drawing.js'

const logits = logitsOf(0.1, 0.2, 0.4, 0.3)

describe('greedy sampling', () => {
  const greedy = sampling({temperature: 0})

  it('selects the most likely token', () => assert.equal(greedy(logits, []), 2))
  it('selects the lowest id on ties', () => assert.equal(greedy(Float32Array.of(1, 3, 3, 2), []), 1))
  it('selects the most likely of negative logits', () => assert.equal(greedy(Float32Array.of(-9, -3, -5), []), 1))

  it('ignores top-k, top-p and min-p', () => {
    const options = {temperature: 0, topK: 1, topP: 0, minP: 1}
    assert.equal(sampling(options)(logits, []), 2)
  })
})

describe('seeded sampling', () => {
  it('draws in proportion to the probabilities', () => assertFrequencies(frequencies({}, logits), [0.1, 0.2, 0.4, 0.3]))

  it('sharpens below temperature 1 and flattens above', () => {
    const powers = (power: number) => {
      const raised = [0.1, 0.2, 0.4, 0.3].map((p) => p ** power)
      const total = raised.reduce((sum, p) => sum + p, 0)
      return raised.map((p) => p / total)
    }
    assertFrequencies(frequencies({temperature: 0.5}, logits), powers(2))
    assertFrequencies(frequencies({temperature: 2}, logits), powers(0.5))
  })

  it('is greedy at temperatures too small to divide by', () =>
    assertFrequencies(frequencies({temperature: 1e-300}, logits), [0, 0, 1, 0]))

  it('draws from large logits of either sign', () => {
    const shifted = (offset: number) => logits.map((logit) => logit + offset)
    assertFrequencies(frequencies({}, shifted(2000)), [0.1, 0.2, 0.4, 0.3])
    assertFrequencies(frequencies({topK: 2}, shifted(-2000)), [0, 0, 4 / 7, 3 / 7])
  })

  const truncations: [string, Partial<SamplingOptions>, number[]][] = [
    ['top-k 2', {topK: 2}, [0, 0, 4 / 7, 3 / 7]],
    ['top-k 1', {topK: 1}, [0, 0, 1, 0]],
    ['top-k above the vocabulary', {topK: 99}, [0.1, 0.2, 0.4, 0.3]],
    ['top-k 0, off', {topK: 0}, [0.1, 0.2, 0.4, 0.3]],
    ['top-p below the best', {topP: 0.35}, [0, 0, 1, 0]],
    ['top-p reached by two', {topP: 0.65}, [0, 0, 4 / 7, 3 / 7]],
    ['top-p reached by three', {topP: 0.75}, [0, 2 / 9, 4 / 9, 3 / 9]],
    ['top-p 0', {topP: 0}, [0, 0, 1, 0]],
    ['top-p 1, off', {topP: 1}, [0.1, 0.2, 0.4, 0.3]],
    ['min-p 0, off', {minP: 0}, [0.1, 0.2, 0.4, 0.3]],
    ['min-p below the least likely', {minP: 0.24}, [0.1, 0.2, 0.4, 0.3]],
    ['min-p above it', {minP: 0.26}, [0, 2 / 9, 4 / 9, 3 / 9]],
    ['min-p above two', {minP: 0.7}, [0, 0, 4 / 7, 3 / 7]],
    ['min-p 1', {minP: 1}, [0, 0, 1, 0]],
    ['min-p after top-k', {topK: 3, minP: 0.6}, [0, 0, 4 / 7, 3 / 7]],
  ]
  for (const [name, options, expected] of truncations)
    it(`draws only from the tokens within ${name}`, () => assertFrequencies(frequencies(options, logits), expected))

  it('draws from all tokens that tie for the most likely with min-p 1', () =>
    assertFrequencies(frequencies({minP: 1}, logitsOf(0.4, 0.2, 0.4)), [0.5, 0, 0.5]))

  it('prefers lower ids on ties in top-k and top-p', () => {
    const even = logitsOf(0.25, 0.25, 0.25, 0.25)
    assertFrequencies(frequencies({topK: 2}, even), [0.5, 0.5, 0, 0])
    assertFrequencies(frequencies({topP: 0.7}, even), [1 / 3, 1 / 3, 1 / 3, 0])
  })

  it('includes the token that reaches top-p exactly, and no more', () => {
    const even = logitsOf(0.25, 0.25, 0.25, 0.25)
    assertFrequencies(frequencies({topP: 0.5}, even), [0.5, 0.5, 0, 0])
  })

  it('finds the k most likely of a large vocabulary', () => {
    const large = new Float32Array(50_000).map(randomSource(3))
    const best = [...large.keys()].sort((a, b) => large[b]! - large[a]!).slice(0, 40)
    const sample = sampling({topK: 40, temperature: 2})
    const drawn = new Set(Array.from({length: 4000}, () => sample(large, [])))
    assert.deepEqual([...drawn].sort(), best.sort())
  })
})

describe('the seed of sampling', () => {
  const draws = (options: Partial<SamplingOptions>) => {
    const sample = sampling(options)
    return Array.from({length: 50}, () => sample(logits, [])).join('')
  }

  it('determines the tokens', () => {
    assert.equal(draws({seed: 7}), draws({seed: 7}))
    assert.notEqual(draws({seed: 7}), draws({seed: 8}))
  })

  it('is reduced to 32 bits', () => assert.equal(draws({seed: -1}), draws({seed: 2 ** 32 - 1})))
  it('has no effect at temperature 0', () => assert.equal(draws({temperature: 0, seed: 7}), '2'.repeat(50)))

  it('belongs to one sampler: two samplers do not affect each other', () => {
    const [one, two] = [sampling({seed: 7}), sampling({seed: 8})]
    const turns = Array.from({length: 50}, () => [one(logits, []), two(logits, [])])
    assert.equal(turns.map(([token]) => token).join(''), draws({seed: 7}))
  })
})

describe('the order of the sampling options', () => {
  it('applies bias before penalties', () => {
    // (-1 + 3) / 4 is above 0; -1 * 4 + 3 would be below.
    const sample = sampling({temperature: 0, logitBias: {0: 3}, repeatPenalty: 4})
    assert.equal(sample(Float32Array.of(-1, 0), [0]), 0)
  })

  it('applies bias before top-k', () =>
    assertFrequencies(frequencies({topK: 1, logitBias: {0: 5}}, logits), [1, 0, 0, 0]))

  it('applies penalties before top-k', () =>
    assertFrequencies(frequencies({topK: 2, presencePenalty: 9}, logits, [2]), [0, 2 / 5, 0, 3 / 5]))

  it('applies penalties before temperature', () =>
    // A probability halved, then squared.
    assertFrequencies(frequencies({temperature: 0.5, presencePenalty: Math.LN2}, logitsOf(0.5, 0.5), [1]), [
      4 / 5,
      1 / 5,
    ]))

  it('applies top-k before top-p', () => assertFrequencies(frequencies({topK: 2, topP: 0.55}, logits), [0, 0, 1, 0]))

  it('applies temperature before top-p', () =>
    assertFrequencies(frequencies({temperature: 0.5, topP: 0.5}, logits), [0, 0, 1, 0]))

  it('applies temperature before min-p', () => {
    const roots = [0, Math.sqrt(2), 2, Math.sqrt(3)]
    const total = roots.reduce((sum, root) => sum + root, 0)
    assertFrequencies(
      frequencies({temperature: 2, minP: 0.6}, logits),
      roots.map((root) => root / total),
    )
  })

  it('applies top-p before min-p', () =>
    // After min-p, the most likely token alone would reach 0.55.
    assertFrequencies(frequencies({topP: 0.55, minP: 0.6}, logits), [0, 0, 4 / 7, 3 / 7]))
})

describe('non-finite logits', () => {
  const {NaN: nan} = Number
  const broken = Float32Array.of(nan, Infinity, Math.log(0.4), -Infinity, Math.log(0.6), nan)
  const expected = [0, 0, 0.4, 0, 0.6, 0]

  it('are never selected by greedy sampling', () => assert.equal(sampling({temperature: 0})(broken, []), 4))

  const options: Partial<SamplingOptions>[] = [
    {},
    {topK: 2},
    {topK: 5},
    {topK: 99},
    {topP: 0.99},
    {minP: 0.1},
    {topK: 3, topP: 0.99, minP: 0.1},
    {repeatPenalty: 2, presencePenalty: 0},
    {logitBias: {0: 50, 1: 50, 3: 50, 5: -50}},
  ]
  for (const chosen of options)
    it(`are never drawn with ${JSON.stringify(chosen)}`, () =>
      assertFrequencies(frequencies(chosen, broken, [0, 1, 3, 5]), expected))

  const none: [string, Partial<SamplingOptions>, Float32Array][] = [
    ['greedy', {temperature: 0}, Float32Array.of(nan, Infinity, -Infinity)],
    ['drawing from all', {}, Float32Array.of(nan, Infinity, -Infinity)],
    ['drawing from the top k', {topK: 2}, Float32Array.of(nan, Infinity, -Infinity)],
    ['of an empty vocabulary', {}, Float32Array.of()],
  ]
  for (const [name, chosen, left] of none)
    it(`cause an error if there are no others: ${name}`, () =>
      assert.throws(
        () => sampling(chosen)(left, []),
        (error) => isErrorOf(error, 'generation_failed') && /no token can be selected/.test(error.message),
      ))
})

describe('a bias that bans every token', () => {
  for (const temperature of [0, 1])
    it(`is reported as an invalid request at temperature ${temperature}`, () =>
      assert.throws(() => sampling({temperature, logitBias: {0: -100, 1: -100}})(Float32Array.of(1, 2), []), {
        code: 'bad_request',
        message: 'logit_bias bans every token',
      }))
})

describe("the caller's logits", () => {
  const options: Partial<SamplingOptions>[] = [
    {temperature: 0},
    {topK: 2, topP: 0.5, minP: 0.5},
    {temperature: 0, repeatPenalty: 2, presencePenalty: 1, frequencyPenalty: 1},
    {repeatPenalty: 2, logitBias: {1: 4, 2: -100}},
    {logitBias: {1: 100}},
  ]
  for (const chosen of options)
    it(`are not modified with ${JSON.stringify(chosen)}`, () => {
      const input = logits.slice()
      const sample = sampling(chosen)
      for (let i = 0; i < 3; i++) sample(input, [2, 2, 3])
      assert.deepEqual(input, logits)
    })
})

describe('a large vocabulary', () => {
  for (const chosen of [{temperature: 0}, {topK: 40, topP: 0.9, minP: 0.1}])
    it(`is not copied without bias or penalties: ${JSON.stringify(chosen)}`, () => {
      const large = new Float32Array(4_000_000)
      const sample = sampling(chosen)
      const before = process.memoryUsage().arrayBuffers
      sample(large, [1, 2, 3])
      const grown = process.memoryUsage().arrayBuffers - before
      assert.ok(grown < 1_000_000, `${grown} bytes more`)
    })
})

describe('createSampler', () => {
  it('does not carry bias or penalties over to the next step', () => {
    const sample = sampling({temperature: 0, presencePenalty: 1, logitBias: {0: 0.5}})
    const steps = [[2], [], [2], [3], [2, 3]].map((history) => sample(logits, history))
    assert.deepEqual(steps, [3, 2, 3, 2, 1])
  })

  it('supports a vocabulary size that changes', () => {
    const sample = sampling({temperature: 0, presencePenalty: 5})
    assert.equal(sample(Float32Array.of(1, 2), [1]), 0)
    assert.equal(sample(Float32Array.of(1, 2, 3, 4), [3]), 2)
    assert.equal(sample(Float32Array.of(1, 2), []), 1)
  })
})
