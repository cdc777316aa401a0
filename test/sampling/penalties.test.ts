import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type PenaltyOptions, penalties} from '../../src/sampling/penalties.js'
import {assertFrequencies, frequencies, logitsOf, sampling} from './drawing.js'

const neutral: PenaltyOptions = {repeatPenalty: 1, presencePenalty: 0, frequencyPenalty: 0, repeatLastN: 64}
const input = [4, -4, 0, 2]

/** The logits after the penalties. Powers of two are exact as 32-bit floats. */
function penalised(options: Partial<PenaltyOptions>, history: readonly number[]): number[] {
  const logits = Float32Array.from(input)
  const process = penalties({...neutral, ...options})
  assert.ok(process)
  process(logits, history)
  return [...logits]
}

describe('penalties', () => {
  const table: [string, Partial<PenaltyOptions>, number[], number[]][] = [
    ['repeat divides a positive logit', {repeatPenalty: 2}, [0], [2, -4, 0, 2]],
    ['repeat multiplies a negative logit', {repeatPenalty: 2}, [1], [4, -8, 0, 2]],
    ['repeat does not change a logit of 0', {repeatPenalty: 2}, [2], [4, -4, 0, 2]],
    ['repeat counts a token once', {repeatPenalty: 2}, [0, 1, 0, 1, 0], [2, -8, 0, 2]],
    ['repeat below 1 favours used tokens', {repeatPenalty: 0.5}, [0, 1], [8, -2, 0, 2]],
    ['presence is subtracted once', {presencePenalty: 1.5}, [0, 0, 0, 1], [2.5, -5.5, 0, 2]],
    ['presence below 0 is added', {presencePenalty: -1}, [3], [4, -4, 0, 3]],
    ['frequency is subtracted for each use', {frequencyPenalty: 0.5}, [0, 1, 0, 0], [2.5, -4.5, 0, 2]],
    ['frequency below 0 is added for each use', {frequencyPenalty: -0.5}, [3, 3], [4, -4, 0, 3]],
    ['presence and frequency add up', {presencePenalty: 1, frequencyPenalty: 0.5}, [2, 2], [4, -4, -2, 2]],
    ['repeat comes before the others', {repeatPenalty: 2, presencePenalty: 1}, [0, 1, 2], [1, -9, -1, 2]],
    ['an empty history changes nothing', {repeatPenalty: 2, presencePenalty: 1}, [], input],
    ['the window excludes older tokens', {presencePenalty: 1, repeatLastN: 2}, [0, 1, 2, 3], [4, -4, -1, 1]],
    ['the window limits the count', {frequencyPenalty: 1, repeatLastN: 2}, [0, 0, 0, 0], [2, -4, 0, 2]],
    ['a window of 1 includes only the last token', {presencePenalty: 1, repeatLastN: 1}, [0, 3], [4, -4, 0, 1]],
    ['a window may be longer than the history', {presencePenalty: 1, repeatLastN: 9}, [0], [3, -4, 0, 2]],
    [
      'a window of -1 includes all tokens',
      {frequencyPenalty: 0.0625, repeatLastN: -1},
      Array(32).fill(3),
      [4, -4, 0, 0],
    ],
    ['ids outside the vocabulary are ignored', {frequencyPenalty: 1}, [4, 99, -1, 0], [3, -4, 0, 2]],
  ]
  for (const [name, options, history, expected] of table)
    it(name, () => assert.deepEqual(penalised(options, history), expected))

  it('resets the counts at each step', () => {
    const process = penalties({...neutral, frequencyPenalty: 1})
    for (let step = 0; step < 3; step++) {
      const logits = Float32Array.from(input)
      process?.(logits, [0, 0, 3])
      assert.deepEqual([...logits], [2, -4, 0, 1])
    }
  })

  it('returns undefined if all are neutral or the window is 0', () => {
    assert.equal(penalties(neutral), undefined)
    assert.equal(penalties({...neutral, repeatPenalty: 2, presencePenalty: 1, repeatLastN: 0}), undefined)
  })
})

describe('sampling with penalties', () => {
  it('changes how often a token is drawn', () => {
    const logits = logitsOf(0.5, 0.5)
    const odds = (used: number) => [1 / (1 + used), used / (1 + used)]
    const history = [1, 1, 1]
    // The logarithm of 0.5 is negative, so a repeat penalty of 2 squares the probability.
    assertFrequencies(frequencies({repeatPenalty: 2}, logits, history), odds(1 / 2))
    assertFrequencies(frequencies({presencePenalty: Math.LN2}, logits, history), odds(1 / 2))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2}, logits, history), odds(1 / 8))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2, repeatLastN: 2}, logits, history), odds(1 / 4))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2, repeatLastN: 0}, logits, history), odds(1))
  })

  it('makes greedy sampling select other tokens', () => {
    const sample = sampling({temperature: 0, frequencyPenalty: 1})
    const history: number[] = []
    for (let step = 0; step < 6; step++) history.push(sample(Float32Array.of(3, 2.5, 1.25), history))
    assert.deepEqual(history, [0, 1, 0, 1, 2, 0])
  })

  it('does not read the history without penalties', () => {
    const unread = new Proxy<number[]>([], {
      get: () => assert.fail('the history was read'),
    })
    assert.equal(sampling({temperature: 0})(Float32Array.of(1, 2), unread), 1)
    assert.equal(sampling({temperature: 0, repeatPenalty: 2, repeatLastN: 0})(Float32Array.of(1, 2), unread), 1)
  })
})
