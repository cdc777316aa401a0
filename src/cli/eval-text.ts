import type {SpeechEvalHistoryV1, SpeechEvalV1} from '../contracts/index.js'
import {counted} from '../errors/index.js'
import {dateTime} from './cell-text.js'
import {formatTable, wrapped} from './table.js'

const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`

const signed = (value: number, digits: number) => `${value > 0 ? '+' : ''}${value.toFixed(digits)}`

/** The report of an evaluation of speech recognition. */
export function formatEval(result: SpeechEvalV1, width: number | undefined): string {
  const {samples, raw, normalized, normalizer, kpi, saved} = result
  const {mean_latency_ms: mean, p95_latency_ms: p95} = result
  const rows = samples.map(({path, word_errors: errors, wer, cer, actual, error}) => [
    path,
    String(errors),
    percent(wer),
    percent(cer),
    error ?? actual,
  ])
  const rates = ({wer, cer}: SpeechEvalV1['raw']) => `WER ${percent(wer)}, CER ${percent(cer)}`
  return [
    formatTable([wrapped('RECORDING'), 'ERRORS', 'WER', 'CER', wrapped('HEARD')], rows, {width}),
    `${counted(samples.length, 'recording')}, ${Math.round(mean)} ms each, 95 % within ${Math.round(p95)} ms\n`,
    `as written: ${rates(raw)}, identifiers ${percent(result.symbol_error_rate)}\n`,
    `normalized (${normalizer}): ${rates(normalized)}\n`,
    ...calibrationText(result.calibration),
    ...(kpi === undefined ? [] : ['\n', kpiText(kpi)]),
    ...(saved === undefined ? [] : ['\n', savedText(saved)]),
  ].join('')
}

/** A table per kind of confidence that the recordings have. */
const calibrationText = (calibration: SpeechEvalV1['calibration']): string[] =>
  (['asr_confidence', 'confidence'] as const).flatMap((name) => {
    const {bins, expected_calibration_error: error} = calibration[name]
    if (bins.length === 0) return []
    const rows = bins.map((bin) => [
      `${bin.from.toFixed(1)} to ${bin.to.toFixed(1)}`,
      String(bin.count),
      percent(bin.mean_confidence),
      percent(bin.word_accuracy),
      percent(bin.exact),
    ])
    const header = [name.toUpperCase(), 'RECORDINGS', 'MEAN', 'WORDS RIGHT', 'ALL RIGHT']
    return ['\n', formatTable(header, rows), `calibration error: ${percent(error)}\n`]
  })

const kpiText = ({metrics}: NonNullable<SpeechEvalV1['kpi']>): string =>
  formatTable(
    ['METRIC', 'VALUE', 'LIMIT', 'BASELINE', 'RESULT'],
    metrics.map(({metric, value, limit, baseline, ok}) => [
      metric,
      kpiValue(value),
      kpiValue(limit),
      baseline === undefined ? '' : kpiValue(baseline),
      ok ? 'ok' : 'failed',
    ]),
  )

const kpiValue = (value: number) => String(Number(value.toFixed(4)))

function savedText({run_id: id, previous}: NonNullable<SpeechEvalV1['saved']>): string {
  if (previous === null) return `Saved as ${id}, the first run of this dataset, model and normalisation.\n`
  const {wer_delta: wer, cer_delta: cer, latency_ms_delta: latency, better, worse} = previous
  const changes = `WER ${signed(100 * wer, 1)} %, CER ${signed(100 * cer, 1)} %, ${signed(latency, 0)} ms each`
  return [
    `Saved as ${id}.\n`,
    `Since the run of ${dateOf(previous.created_at)}: ${changes}\n`,
    ...better.map((path) => `better: ${path}\n`),
    ...worse.map((path) => `worse: ${path}\n`),
  ].join('')
}

/** Saved evaluations, one line each. */
export const formatEvalHistory = ({runs}: SpeechEvalHistoryV1, width: number | undefined): string =>
  formatTable(
    ['TIME', wrapped('MODEL'), wrapped('DATASET'), wrapped('NORMALIZED'), 'RECORDINGS', 'WER', 'CER', 'MS EACH'],
    runs.map((run) => [
      dateOf(run.created_at),
      run.model_id,
      run.dataset_name,
      run.normalizer,
      String(run.sample_count),
      percent(run.global_wer),
      percent(run.global_cer),
      String(Math.round(run.avg_latency_ms)),
    ]),
    {width},
  )

/** @param seconds Unix time */
const dateOf = (seconds: number) => dateTime(1000 * seconds)
