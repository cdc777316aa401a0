import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {openStore} from '../../src/store/index.js'
import {
  listSpeechEvals,
  type NewSpeechEval,
  type SpeechEvalPlace,
  saveSpeechEval,
  telemetryFragment,
} from '../../src/telemetry/index.js'
import {temporaryFolder} from '../support/temporary.js'

async function placeOf(test: TestContext): Promise<SpeechEvalPlace> {
  const store = await openStore(join(await temporaryFolder(test), 'store.db'), [telemetryFragment])
  test.after(() => store.close())
  return {store, repositoryId: 'r1'}
}

/** An evaluation of recordings `0`, `1` and so on with these word error rates. */
function evaluation(rates: readonly number[], changes: Partial<NewSpeechEval> = {}): NewSpeechEval {
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length
  return {
    run_type: 'general_subtitle',
    backend: 'ctc',
    model_id: 'starter',
    dataset_name: '/w/clips.jsonl',
    normalizer: 'basic',
    total_ref_words: 8,
    total_wer_errors: Math.round(8 * mean),
    global_wer: mean,
    global_cer: mean / 2,
    avg_latency_ms: 100,
    samples: rates.map((wer, i) => ({
      audio_path: String(i),
      reference_text: 'a b',
      hypothesis_text: 'a',
      wer,
      cer: wer / 2,
      latency_ms: 100,
      segment_count: 1,
      no_speech_dropped: 0,
    })),
    ...changes,
  }
}

describe('saved evaluations', () => {
  it('are compared with the previous one of the same kind', async (test) => {
    const place = await placeOf(test)
    assert.equal(saveSpeechEval(place, evaluation([0.5, 0.5, 0.5, 0]), 1000).previous, undefined)
    const {run} = saveSpeechEval(place, evaluation([0.75, 0.25, 0.5, 0.5]), 1001)
    const {previous} = saveSpeechEval(place, evaluation([0.5, 0.25, 1, 0], {avg_latency_ms: 80}), 1001)
    assert.deepEqual(previous, {
      run_id: run.run_id,
      created_at: 1001,
      wer_delta: -0.0625,
      cer_delta: -0.03125,
      latency_ms_delta: -20,
      better: ['0', '3'],
      worse: ['2'],
    })
    assert.equal(place.store.get<{n: number}>('SELECT count(*) AS n FROM speech_eval_sample')?.n, 12)
  })

  for (const [what, changes] of [
    ['model', {model_id: 'tiny.en'}],
    ['dataset', {dataset_name: '/w/other.jsonl'}],
    ['normalisation', {normalizer: 'none'}],
    ['domain', {run_type: 'code_domain'}],
    ['number of recordings', {samples: []}],
  ] as const)
    it(`are not compared with one of another ${what}`, async (test) => {
      const place = await placeOf(test)
      saveSpeechEval(place, evaluation([0.5]), 1000)
      assert.equal(saveSpeechEval(place, evaluation([0.5], changes), 1001).previous, undefined)
      assert.equal(saveSpeechEval({...place, repositoryId: 'r2'}, evaluation([0.5]), 1001).previous, undefined)
    })

  it('are listed newest first, of one dataset or all of the repository', async (test) => {
    const place = await placeOf(test)
    for (const [at, name] of ['/a', '/b', '/a'].entries())
      saveSpeechEval(place, evaluation([0.5], {dataset_name: name}), at)
    const times = (dataset: string | undefined, limit = 9) =>
      listSpeechEvals(place, {dataset, limit}).map((run) => run.created_at)
    assert.deepEqual([times(undefined), times('/a'), times('/c'), times(undefined, 1)], [[2, 1, 0], [2, 0], [], [2]])
    assert.deepEqual(listSpeechEvals({...place, repositoryId: 'r2'}, {dataset: undefined, limit: 9}), [])
  })
})
