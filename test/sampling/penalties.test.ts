import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type PenaltyOptions, penalties} from '../../src/sampling/penalties.js'
import {assertFrequencies, frequencies, logitsOf, sampling} from './drawing.js'

const neutral: PenaltyOptions = {repeatPenalty: 1, presencePenalty: 0, frequencyPenalty: 0, repeatLastN: 64}
const given = [4, -4, 0, 2]

/** The logits after the penalties. Powers of two, so that 32-bit numbers hold them exactly. */
function penalised(options: Partial<PenaltyOptions>, history: readonly number[]): number[] {
  const logits = Float32Array.from(given)
  const process = penalties({...neutral, ...options})
  assert.ok(process)
  process(logits, history)
  return [...logits]
}

describe('penalties', () => {
  const table: [string, Partial<PenaltyOptions>, number[], number[]][] = [
    ['repeat divides a positive logit', {repeatPenalty: 2}, [0], [2, -4, 0, 2]],
    ['repeat multiplies a negative logit', {repeatPenalty: 2}, [1], [4, -8, 0, 2]],
    ['repeat leaves a logit of 0', {repeatPenalty: 2}, [2], [4, -4, 0, 2]],
    ['repeat counts a token once', {repeatPenalty: 2}, [0, 1, 0, 1, 0], [2, -8, 0, 2]],
    ['repeat below 1 favours what was used', {repeatPenalty: 0.5}, [0, 1], [8, -2, 0, 2]],
    ['presence takes off once', {presencePenalty: 1.5}, [0, 0, 0, 1], [2.5, -5.5, 0, 2]],
    ['presence below 0 adds', {presencePenalty: -1}, [3], [4, -4, 0, 3]],
    ['frequency takes off for each use', {frequencyPenalty: 0.5}, [0, 1, 0, 0], [2.5, -4.5, 0, 2]],
    ['frequency below 0 adds for each use', {frequencyPenalty: -0.5}, [3, 3], [4, -4, 0, 3]],
    ['presence and frequency add up', {presencePenalty: 1, frequencyPenalty: 0.5}, [2, 2], [4, -4, -2, 2]],
    ['repeat comes before the others', {repeatPenalty: 2, presencePenalty: 1}, [0, 1, 2], [1, -9, -1, 2]],
    ['an empty history has none', {repeatPenalty: 2, presencePenalty: 1}, [], given],
    ['the window forgets older tokens', {presencePenalty: 1, repeatLastN: 2}, [0, 1, 2, 3], [4, -4, -1, 1]],
    ['the window limits the count', {frequencyPenalty: 1, repeatLastN: 2}, [0, 0, 0, 0], [2, -4, 0, 2]],
    ['a window of one sees the last token', {presencePenalty: 1, repeatLastN: 1}, [0, 3], [4, -4, 0, 1]],
    ['a window may be longer than the history', {presencePenalty: 1, repeatLastN: 9}, [0], [3, -4, 0, 2]],
    ['a window of -1 sees all', {frequencyPenalty: 0.0625, repeatLastN: -1}, Array(32).fill(3), [4, -4, 0, 0]],
    ['ids outside the vocabulary are ignored', {frequencyPenalty: 1}, [4, 99, -1, 0], [3, -4, 0, 2]],
  ]
  for (const [name, options, history, expected] of table)
    it(name, () => assert.deepEqual(penalised(options, history), expected))

  it('count each step afresh', () => {
    const process = penalties({...neutral, frequencyPenalty: 1})
    for (let step = 0; step < 3; step++) {
      const logits = Float32Array.from(given)
      process?.(logits, [0, 0, 3])
      assert.deepEqual([...logits], [2, -4, 0, 1])
    }
  })

  it('are left out when they are neutral or have no window', () => {
    assert.equal(penalties(neutral), undefined)
    assert.equal(penalties({...neutral, repeatPenalty: 2, presencePenalty: 1, repeatLastN: 0}), undefined)
  })
})

describe('sampling with penalties', () => {
  it('changes how often a token is drawn', () => {
    const logits = logitsOf(0.5, 0.5)
    const odds = (used: number) => [1 / (1 + used), used / (1 + used)]
    const history = [1, 1, 1]
    // Logarithms of a half are negative, so that a repeat penalty of 2 squares the probability.
    assertFrequencies(frequencies({repeatPenalty: 2}, logits, history), odds(1 / 2))
    assertFrequencies(frequencies({presencePenalty: Math.LN2}, logits, history), odds(1 / 2))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2}, logits, history), odds(1 / 8))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2, repeatLastN: 2}, logits, history), odds(1 / 4))
    assertFrequencies(frequencies({frequencyPenalty: Math.LN2, repeatLastN: 0}, logits, history), odds(1))
  })

  it('makes the greedy choice move on', () => {
    const sample = sampling({temperature: 0, frequencyPenalty: 1})
    const history: number[] = []
    for (let step = 0; step < 6; step++) history.push(sample(Float32Array.of(3, 2.5, 1.25), history))
    assert.deepEqual(history, [0, 1, 0, 1, 2, 0])
  })

  it('never reads the history when it has no use for it', () => {
    const unread = new Proxy<number[]>([], {
      get: () => assert.fail('the history was read'),
    })
    assert.equal(sampling({temperature: 0})(Float32Array.of(1, 2), unread), 1)
    assert.equal(sampling({temperature: 0, repeatPenalty: 2, repeatLastN: 0})(Float32Array.of(1, 2), unread), 1)
  })
})
