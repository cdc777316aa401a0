import assert from 'node:assert/strict'
import {createSampler, defaultSampling, type SamplingOptions} from '../../src/sampling/index.js'

/** A sampler with neutral options, except for the given ones. */
export const sampling = (options: Partial<SamplingOptions>) =>
  createSampler({...defaultSampling, temperature: 1, topK: 0, topP: 1, seed: 1, ...options})

/** Logits with the given probabilities as their softmax. */
export const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log)

/** Relative frequency of each token. */
export function frequencies(
  options: Partial<SamplingOptions>,
  logits: Float32Array,
  history: readonly number[] = [],
  draws = 20_000,
): number[] {
  const sample = sampling(options)
  const counts = new Array<number>(logits.length).fill(0)
  for (let i = 0; i < draws; i++) counts[sample(logits, history)]!++
  return counts.map((count) => count / draws)
}

/** The tolerance is four standard deviations of a frequency over 20,000 draws. A probability of 0 must match exactly. */
export function assertFrequencies(actual: readonly number[], expected: readonly number[]): void {
  const message = `${actual} is not near ${expected}`
  assert.equal(actual.length, expected.length, message)
  for (const [i, value] of expected.entries())
    assert.ok(value === 0 ? actual[i] === 0 : Math.abs(actual[i]! - value) < 0.015, message)
}
