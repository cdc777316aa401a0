import {randomUUID} from 'node:crypto'
import type {Store} from '../store/index.js'

/** The store of a workspace, and its repository. */
export interface SpeechEvalPlace {
  readonly store: Store
  readonly repositoryId: string
}

/** A saved evaluation of speech recognition. */
export interface SpeechEvalRun {
  run_id: string
  run_type: 'general_subtitle' | 'code_domain'
  backend: string
  model_id: string
  dataset_name: string
  normalizer: 'none' | 'basic' | 'english'
  sample_count: number
  total_ref_words: number
  total_wer_errors: number
  global_wer: number
  global_cer: number
  avg_latency_ms: number
  /** Unix s. */
  created_at: number
}

/** A recording of an evaluation. */
export interface SpeechEvalSample {
  audio_path: string
  reference_text: string
  hypothesis_text: string
  wer: number
  cer: number
  latency_ms: number
  segment_count: number
  /** 1 if the recording was dropped because it contains no speech. */
  no_speech_dropped: 0 | 1
}

export interface NewSpeechEval extends Omit<SpeechEvalRun, 'run_id' | 'created_at' | 'sample_count'> {
  samples: readonly SpeechEvalSample[]
}

/** Difference of a run from an earlier one. */
export interface SpeechEvalComparison {
  /** The earlier run. */
  run_id: string
  created_at: number
  /** The later run minus the earlier one. */
  wer_delta: number
  cer_delta: number
  latency_ms_delta: number
  /** Recordings whose word error rate is lower or higher. */
  better: string[]
  worse: string[]
}

const runColumns = `run_id, run_type, backend, model_id, dataset_name, normalizer, sample_count, total_ref_words,
  total_wer_errors, global_wer, global_cer, avg_latency_ms, created_at`

/**
 * Saves an evaluation, and compares it with the previous one of the same dataset, number of recordings, model and
 * normalisation.
 * @param nowSec Unix s
 */
export function saveSpeechEval(
  {store, repositoryId}: SpeechEvalPlace,
  {samples, ...evaluation}: NewSpeechEval,
  nowSec: number,
): {run: SpeechEvalRun; previous: SpeechEvalComparison | undefined} {
  const run = {...evaluation, run_id: randomUUID(), sample_count: samples.length, created_at: nowSec}
  return store.transaction(() => {
    const previous = store.get<SpeechEvalRun>(
      `SELECT ${runColumns} FROM speech_eval_run
WHERE repository_id = @repositoryId AND status = 'complete' AND run_type = @run_type AND model_id = @model_id
  AND dataset_name = @dataset_name AND normalizer = @normalizer AND sample_count = @sample_count
ORDER BY created_at DESC, rowid DESC LIMIT 1`,
      {...run, repositoryId},
    )
    store.run(
      `INSERT INTO speech_eval_run (${runColumns}, repository_id, status, updated_at)
VALUES (@run_id, @run_type, @backend, @model_id, @dataset_name, @normalizer, @sample_count, @total_ref_words,
  @total_wer_errors, @global_wer, @global_cer, @avg_latency_ms, @created_at, @repositoryId, 'complete', @created_at)`,
      {...run, repositoryId},
    )
    for (const sample of samples)
      store.run(
        `INSERT INTO speech_eval_sample (run_id, audio_path, reference_text, hypothesis_text, wer, cer, latency_ms,
  segment_count, no_speech_dropped, created_at)
VALUES (@run_id, @audio_path, @reference_text, @hypothesis_text, @wer, @cer, @latency_ms, @segment_count,
  @no_speech_dropped, @created_at)`,
        {...sample, run_id: run.run_id, created_at: nowSec},
      )
    return {run, previous: previous === undefined ? undefined : compare(store, previous, run, samples)}
  })
}

function compare(
  store: Store,
  before: SpeechEvalRun,
  after: SpeechEvalRun,
  samples: readonly SpeechEvalSample[],
): SpeechEvalComparison {
  const earlier = store.all<Pick<SpeechEvalSample, 'audio_path' | 'wer'>>(
    'SELECT audio_path, wer FROM speech_eval_sample WHERE run_id = ?',
    [before.run_id],
  )
  const rates = new Map(earlier.map(({audio_path: path, wer}) => [path, wer]))
  const pathsWith = (isChange: (wer: number, earlier: number) => boolean) =>
    samples
      .filter(({audio_path: path, wer}) => isChange(wer, rates.get(path) ?? Number.NaN))
      .map(({audio_path: path}) => path)
  return {
    run_id: before.run_id,
    created_at: before.created_at,
    wer_delta: after.global_wer - before.global_wer,
    cer_delta: after.global_cer - before.global_cer,
    latency_ms_delta: after.avg_latency_ms - before.avg_latency_ms,
    better: pathsWith((wer, earlier) => wer < earlier),
    worse: pathsWith((wer, earlier) => wer > earlier),
  }
}

/** Lists saved evaluations of the repository, newest first, optionally only those of a dataset. */
export const listSpeechEvals = (
  {store, repositoryId}: SpeechEvalPlace,
  {dataset, limit}: {dataset: string | undefined; limit: number},
): SpeechEvalRun[] =>
  store.all<SpeechEvalRun>(
    `SELECT ${runColumns} FROM speech_eval_run
WHERE repository_id = @repositoryId AND (@dataset IS NULL OR dataset_name = @dataset)
ORDER BY created_at DESC, rowid DESC LIMIT @limit`,
    {repositoryId, dataset: dataset ?? null, limit},
  )
