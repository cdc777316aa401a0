import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {calibrate} from '../../../src/speech/evaluation/calibration.js'
import {evaluate} from '../../../src/speech/evaluation/evaluate.js'

const rated = (confidence: number, wordAccuracy: number) => ({confidence, wordAccuracy, isExact: wordAccuracy === 1})

describe('the calibration of a confidence', () => {
  it('divides recordings into tenths, of which the last includes 1', () => {
    const {bins, count} = calibrate([rated(0, 0), rated(0.95, 1), rated(1, 0.5), rated(0.1, 1)])
    assert.equal(count, 4)
    assert.deepEqual(
      bins.map(({from, to, count: size}) => [from, to, size]),
      [
        [0, 0.1, 1],
        [0.1, 0.2, 1],
        [0.9, 1, 2],
      ],
    )
    const [, , last] = bins
    assert.deepEqual([last?.mean_confidence, last?.word_accuracy, last?.exact], [0.975, 0.75, 0.5])
  })

  it('has the mean gap between confidence and accuracy as error', () => {
    assert.equal(calibrate([rated(1, 1), rated(0, 0)]).expected_calibration_error, 0)
    assert.equal(calibrate([rated(1, 0)]).expected_calibration_error, 1)
    const {expected_calibration_error: error} = calibrate([
      rated(0.75, 0.5),
      rated(0.75, 0.5),
      rated(0.25, 0.25),
      rated(1, 0),
    ])
    assert.equal(error, 0.375)
    assert.equal(calibrate([]).expected_calibration_error, 0)
  })

  it('ignores failed recordings, and those without the confidence', () => {
    const sample = {path: 'a', expected: 'one two', actual: 'one', confidence: 0.85, latencyMs: 1}
    const {calibration} = evaluate(
      [{...sample, asrConfidence: 0.45}, sample, {...sample, actual: '', confidence: 0, error: 'file_not_found'}],
      'basic',
    )
    assert.deepEqual([calibration.confidence.count, calibration.asr_confidence.count], [2, 1])
    assert.equal(calibration.asr_confidence.bins[0]?.word_accuracy, 0.5)
  })
})

describe('an evaluation', () => {
  it('reports the error rate of identifiers and the latency of 95 % of the recordings', () => {
    const heard = Array.from({length: 40}, (_, i) => ({
      path: `${i}`,
      expected: 'call get_user now.',
      actual: i === 0 ? 'call user, now.' : 'call get_user then.',
      confidence: 1,
      latencyMs: 40 - i,
    }))
    const result = evaluate(heard, 'none')
    assert.equal(result.symbol_error_rate, 1 / 80)
    assert.equal(result.p95_latency_ms, 38)
    assert.equal(evaluate(heard.slice(0, 1), 'none').p95_latency_ms, 40)
  })
})
