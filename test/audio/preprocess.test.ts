import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type PreprocessOptions, preprocess} from '../../src/audio/index.js'

const run = (samples: readonly number[], options: Partial<PreprocessOptions> = {}) =>
  preprocess(Float32Array.from(samples), {mode: 'peak_normalize', budgetMs: 0, rmsTargetDbfs: -18, ...options})

describe('preprocess', () => {
  it('scales the peak to 0.95 with peak_normalize', () => {
    const {samples, diagnostics} = run([0.01, -0.01, 0.005])
    assert.ok(Math.abs(samples[0]! - 0.95) < 1e-6)
    assert.ok(Math.abs(samples[2]! - 0.475) < 1e-6)
    assert.equal(diagnostics.mode, 'peak_normalize')
    assert.ok(Math.abs(diagnostics.peak_before - 0.01) < 1e-6 && Math.abs(diagnostics.peak_after - 0.95) < 1e-6)
  })

  it('scales the RMS to its target and clips with rms_normalize', () => {
    const {samples, diagnostics} = run([0.001, 0.001, 0.001, -0.001], {mode: 'rms_normalize', rmsTargetDbfs: -20})
    assert.ok(Math.abs(diagnostics.rms_after - 0.1) < 1e-6)
    assert.ok(Math.abs(samples[3]! + 0.1) < 1e-6)
    assert.equal(run([1, 0, 0, 0], {mode: 'rms_normalize', rmsTargetDbfs: 0}).samples[0], 1)
  })

  it('leaves silence and very quiet noise unchanged', () => {
    for (const samples of [[], [0, 0], [0.00005, -0.00005]])
      assert.deepEqual([...run(samples).samples], [...Float32Array.from(samples)])
    assert.deepEqual([...run([0, 0], {mode: 'rms_normalize'}).samples], [0, 0])
  })

  it('changes nothing with mode none', () => {
    const {samples, diagnostics} = run([0.5], {mode: 'none'})
    assert.deepEqual([...samples], [0.5])
    assert.equal(diagnostics.mode, 'none')
  })

  it('returns the original samples if the budget is exceeded', () => {
    let clock = 0
    const now = () => (clock += 30)
    const {samples, diagnostics} = run([0.01], {budgetMs: 25, now})
    assert.ok(Math.abs(samples[0]! - 0.01) < 1e-6)
    assert.deepEqual(
      [diagnostics.mode, diagnostics.skipped_due_to_budget, diagnostics.wall_ms],
      ['skipped_budget', true, 30],
    )
    clock = 0
    assert.equal(run([0.01], {budgetMs: 30, now}).diagnostics.mode, 'peak_normalize')
    assert.equal(run([0.01], {budgetMs: 0, now}).diagnostics.mode, 'peak_normalize')
  })
})
