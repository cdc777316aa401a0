import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {compareSubtitles} from '../../../src/speech/evaluation/compare-subtitles.js'
import {evaluate} from '../../../src/speech/evaluation/evaluate.js'

describe('subtitles', () => {
  it('are compared by text and time', () => {
    const at = (from: string, to: string, text: string) => `1\n00:00:0${from},000 --> 00:00:0${to},000\n${text}\n\n`
    const result = compareSubtitles(
      at('1', '2', 'a b') + at('3', '4', 'c d'),
      at('1', '3', 'a b') + at('4', '4', 'c x'),
    )
    assert.deepEqual(result, {word_error_rate: 0.25, character_error_rate: 0.25, timing_offset_ms: 500})
    assert.equal(compareSubtitles('', at('1', '2', 'a')).timing_offset_ms, 0)
  })
})

describe('an evaluation', () => {
  it('divides all errors by all words, raw and normalised', () => {
    const heard = (expected: string, actual: string, latencyMs: number) => ({
      path: 'a',
      expected,
      actual,
      confidence: 1,
      latencyMs,
    })
    const result = evaluate([heard('One two three', 'one, two three', 10), heard('four', 'for', 30)], 'basic')
    assert.deepEqual([result.raw.errors, result.raw.words, result.raw.wer], [2, 4, 0.5])
    assert.deepEqual([result.normalized.errors, result.normalized.wer], [1, 0.25])
    assert.deepEqual([result.mean_latency_ms, result.median_latency_ms, result.samples[0]?.word_errors], [20, 20, 0])
  })
})
