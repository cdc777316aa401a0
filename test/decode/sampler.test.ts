import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createSampler, randomSource, type SamplingOptions} from '../../src/decode/index.js'

const sampling = (changes: Partial<SamplingOptions>) =>
  createSampler({temperature: 1, topK: 0, topP: 1, seed: 1, ...changes})

/** How often each token is drawn. */
function frequencies(changes: Partial<SamplingOptions>, logits: Float32Array, draws = 20_000): number[] {
  const sample = sampling(changes)
  const counts = new Array<number>(logits.length).fill(0)
  for (let i = 0; i < draws; i++) counts[sample(logits)]!++
  return counts.map((count) => count / draws)
}

const logits = Float32Array.from([0.1, 0.2, 0.4, 0.3], Math.log)

const close = (actual: readonly number[], expected: readonly number[]) => {
  for (const [i, value] of expected.entries())
    assert.ok(Math.abs((actual[i] as number) - value) < 0.015, `${actual} is not near ${expected}`)
}

describe('greedy sampling', () => {
  it('takes the most likely token', () => assert.equal(sampling({temperature: 0})(logits), 2))
  it('takes the lowest id on ties', () => assert.equal(sampling({temperature: 0})(Float32Array.of(1, 3, 3, 2)), 1))
})

describe('seeded sampling', () => {
  it('draws in proportion to the probabilities', () => close(frequencies({}, logits), [0.1, 0.2, 0.4, 0.3]))

  it('sharpens below temperature 1 and flattens above', () => {
    const powers = (power: number) => {
      const raised = [0.1, 0.2, 0.4, 0.3].map((p) => p ** power)
      const total = raised.reduce((sum, p) => sum + p, 0)
      return raised.map((p) => p / total)
    }
    close(frequencies({temperature: 0.5}, logits), powers(2))
    close(frequencies({temperature: 2}, logits), powers(0.5))
  })

  it('top-k keeps the k most likely', () => {
    close(frequencies({topK: 2}, logits), [0, 0, 4 / 7, 3 / 7])
    close(frequencies({topK: 1}, logits), [0, 0, 1, 0])
    close(frequencies({topK: 99}, logits), [0.1, 0.2, 0.4, 0.3])
  })

  it('top-p keeps the fewest that reach it', () => {
    close(frequencies({topP: 0.35}, logits), [0, 0, 1, 0])
    close(frequencies({topP: 0.65}, logits), [0, 0, 4 / 7, 3 / 7])
    close(frequencies({topP: 0}, logits), [0, 0, 1, 0])
  })

  it('top-p counts what top-k has left', () => close(frequencies({topK: 3, topP: 0.5}, logits), [0, 0, 4 / 7, 3 / 7]))

  it('the same seed gives the same tokens, another one others', () => {
    const draws = (seed: number) => {
      const sample = sampling({seed})
      return Array.from({length: 50}, () => sample(logits)).join('')
    }
    assert.equal(draws(7), draws(7))
    assert.notEqual(draws(7), draws(8))
  })

  it('finds the k most likely of a large vocabulary', () => {
    const random = randomSource(3)
    const large = Float32Array.from({length: 50_000}, random)
    const best = [...large.keys()].sort((a, b) => (large[b] as number) - (large[a] as number)).slice(0, 40)
    const sample = sampling({topK: 40, temperature: 2})
    const drawn = new Set(Array.from({length: 4000}, () => sample(large)))
    assert.deepEqual([...drawn].sort(), best.sort())
  })

  it('leaves the logits as they were', () => {
    const before = logits.slice()
    sampling({topK: 2})(logits)
    assert.deepEqual(logits, before)
  })
})

describe('the random source', () => {
  it('gives the published numbers of its algorithm', () => {
    const random = randomSource(0)
    assert.deepEqual(
      Array.from({length: 3}, () => Math.floor(random() * 2 ** 32)),
      [1144304738, 1416247, 958946056],
    )
  })
})
