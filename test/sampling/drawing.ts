import assert from 'node:assert/strict'
import {createSampler, defaultSampling, type SamplingOptions} from '../../src/sampling/index.js'

/** A sampler of all tokens as they are, but for these options. */
export const sampling = (options: Partial<SamplingOptions>) =>
  createSampler({...defaultSampling, temperature: 1, topK: 0, topP: 1, seed: 1, ...options})

/** Logits whose softmax are these probabilities. */
export const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log)

/** How often each token is drawn. */
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

/** Four standard deviations of a frequency over 20,000 draws. A probability of 0 is met exactly. */
export function assertFrequencies(actual: readonly number[], expected: readonly number[]): void {
  const shown = `${actual} is not near ${expected}`
  assert.equal(actual.length, expected.length, shown)
  for (const [i, value] of expected.entries())
    assert.ok(value === 0 ? actual[i] === 0 : Math.abs(actual[i]! - value) < 0.015, shown)
}
