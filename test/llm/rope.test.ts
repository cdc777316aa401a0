import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {rotaryFrequencies, yarnMagnitude} from '../../src/llm/rope.js'
import type {RopeScaling, RopeSpec} from '../../src/llm/spec.js'

/** With this base, a head of 8 has the frequencies 1, 0.1, 0.01 and 0.001, so the results can be calculated by hand. */
const theta = 10_000
const headDim = 8

/** An original context in which these frequencies make 1000, 100, 10 and 1 turns. */
const thousandTurns = 2000 * Math.PI

function assertClose(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length)
  for (const [i, value] of actual.entries()) {
    const target = expected[i] as number
    assert.ok(Math.abs(value - target) <= 1e-9 * Math.abs(target), `pair ${i} is ${value}, not ${target}`)
  }
}

const frequenciesOf = (rope: Omit<RopeSpec, 'queryGrowth'>) =>
  rotaryFrequencies({...rope, queryGrowth: undefined}, 1024)

const scaled = (scaling: RopeScaling) => frequenciesOf({theta, dims: headDim, scaling})
const llama3 = (changes: {lowFactor?: number; highFactor?: number} = {}): RopeScaling => ({
  kind: 'llama3',
  factor: 8,
  lowFactor: 1,
  highFactor: 4,
  originalContext: thousandTurns,
  ...changes,
})
const yarn = (changes: Partial<Extract<RopeScaling, {kind: 'yarn'}>> = {}): RopeScaling => ({
  kind: 'yarn',
  factor: 4,
  attentionFactor: 1.5,
  betaFast: 50,
  betaSlow: 2,
  originalContext: thousandTurns,
  truncate: true,
  ...changes,
})

const longrope = (originalContext: number): RopeScaling => ({
  ...{kind: 'longrope', short: [1, 2, 2, 2], long: [1, 4, 4, 4], attentionFactor: 1},
  originalContext,
})
const dynamicFrequencies = [0, 1, 2, 3].map((pair) => (theta * 3 ** (8 / 6)) ** (-pair / 4))

const vectors: readonly [string, RopeScaling, number[]][] = [
  ['none: powers of the base', {kind: 'none'}, [1, 0.1, 0.01, 0.001]],
  ['linear: every frequency divided', {kind: 'linear', factor: 4}, [0.25, 0.025, 0.0025, 0.000_25]],
  ['linear with a factor of 1', {kind: 'linear', factor: 1}, [1, 0.1, 0.01, 0.001]],
  // The slowest pair makes one turn: exactly at the low factor it is divided by 8.
  ['llama3: a pair with as many turns as the low factor', llama3(), [1, 0.1, 0.01, 0.000_125]],
  ['llama3: a pair with fewer turns than the low factor', llama3({lowFactor: 2}), [1, 0.1, 0.01, 0.000_125]],
  // Exactly at the high factor a pair is not scaled.
  [
    'llama3: a pair with as many turns as the high factor',
    llama3({lowFactor: 5, highFactor: 10}),
    [1, 0.1, 0.01, 0.000_125],
  ],
  // 10 turns between 5 and 20 are a third of the way: 2/3 of 0.01/8 and 1/3 of 0.01.
  ['llama3: a pair between the factors', llama3({lowFactor: 5, highFactor: 20}), [1, 0.1, 0.0125 / 3, 0.000_125]],
  // 50 turns are at pair log10(1000/50) = 1.30, 2 turns at log10(1000/2) = 2.70; truncated, the ramp is from 1 to 3.
  ['yarn: the middle of the ramp', yarn(), [1, 0.1, 0.006_25, 0.000_25]],
  // Untruncated from log10(20) = 1.30103 to log10(200) = 2.30103: pair 2 is 0.69897 of the way.
  [
    'yarn: a ramp without truncation',
    yarn({betaSlow: 5, truncate: false}),
    [1, 0.1, 0.01 * (1 - 0.75 * Math.log10(5)), 0.000_25],
  ],
  // 2000 turns would be before the first pair, so the ramp is from 0 to 3.
  ['yarn: a ramp that begins before the first pair', yarn({betaFast: 2000}), [1, 0.075, 0.005, 0.000_25]],
  // 10^-6 turns would be at pair 9; the ramp ends at the head's last dimension: from 1 to 7.
  [
    'yarn: a ramp that ends after the last pair',
    yarn({betaSlow: 1e-6}),
    [1, 0.1, 0.01 * (1 - 0.75 / 6), 0.001 * (1 - 0.75 / 3)],
  ],
  // Both ends at pair 2: a step between pair 2, which is not scaled, and pair 3.
  [
    'yarn: a ramp of zero width',
    yarn({betaFast: 10, betaSlow: 10, truncate: false, originalContext: thousandTurns}),
    [1, 0.1, 0.01, 0.000_25],
  ],
  ['longrope in its original context', longrope(1024), [1, 0.05, 0.005, 0.0005]],
  ['longrope in a longer context', longrope(1023), [1, 0.025, 0.002_5, 0.000_25]],
  // Twice the original context: the base is (2 * 2 - 1)^(8/6) times as large.
  ['dynamic in a longer context', {kind: 'dynamic', factor: 2, originalContext: 512}, dynamicFrequencies],
  ['dynamic in its original context', {kind: 'dynamic', factor: 2, originalContext: 1024}, [1, 0.1, 0.01, 0.001]],
  ['yarn with a factor of 1', yarn({factor: 1}), [1, 0.1, 0.01, 0.001]],
]

describe('rotaryFrequencies with a head of 8', () => {
  for (const [name, scaling, expected] of vectors)
    it(`returns the expected frequencies: ${name}`, () => assertClose(scaled(scaling).frequencies, expected))

  it('returns one frequency per pair of dimensions', () => {
    for (const size of [2, 64, 128])
      assert.equal(frequenciesOf({theta, dims: size, scaling: {kind: 'none'}}).frequencies.length, size / 2)
  })

  it('returns a magnitude of 1, or the attention factor of YaRN', () => {
    assert.equal(scaled({kind: 'none'}).magnitude, 1)
    assert.equal(scaled({kind: 'linear', factor: 4}).magnitude, 1)
    assert.equal(scaled(llama3()).magnitude, 1)
    assert.equal(scaled(yarn()).magnitude, 1.5)
  })
})

describe('rotaryFrequencies of Llama 3.1', () => {
  // The formula of the release, in wavelengths instead of turns.
  function released(frequency: number): number {
    const [factor, low, high, context] = [8, 1, 4, 8192]
    const wavelength = (2 * Math.PI) / frequency
    if (wavelength < context / high) return frequency
    if (wavelength > context / low) return frequency / factor
    const smooth = (context / wavelength - low) / (high - low)
    return ((1 - smooth) * frequency) / factor + smooth * frequency
  }

  it('match the release in each of the three ranges', () => {
    const scaling: RopeScaling = {kind: 'llama3', factor: 8, lowFactor: 1, highFactor: 4, originalContext: 8192}
    const {frequencies} = frequenciesOf({theta: 500_000, dims: 128, scaling})
    const plain = Array.from({length: 64}, (_, pair) => 1 / 500_000 ** (pair / 64))
    assertClose(frequencies, plain.map(released))
    const ratios = frequencies.map((frequency, pair) => frequency / (plain[pair] as number))
    assert.ok(ratios.some((ratio) => ratio === 1))
    assert.ok(ratios.some((ratio) => ratio > 0.13 && ratio < 0.99))
    assert.ok(ratios.some((ratio) => Math.abs(ratio - 0.125) < 1e-12))
  })
})

describe('yarnMagnitude', () => {
  const magnitudes: readonly [factor: number, expected: number][] = [
    [0.5, 1],
    [1, 1],
    [Math.E, 1.1],
    [4, 1.138_629_436_111_989],
    [Math.E ** 10, 2],
  ]
  for (const [factor, expected] of magnitudes)
    it(`is ${expected} for a factor of ${factor}`, () => assertClose([yarnMagnitude(factor)], [expected]))
})
