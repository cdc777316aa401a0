import {calibrate, type RatedSample} from './calibration.js'
import {characterErrorRate, type ErrorRate, errorShare, symbolErrorRate, wordErrorRate} from './error-rate.js'
import {type NormalizerName, normalizers} from './normalize.js'

/** Expected and recognised text of a recording. */
export interface HeardSample {
  path: string
  expected: string
  actual: string
  confidence: number
  /** Mean token probability, if anything was recognised. */
  asrConfidence?: number | undefined
  /** Without the time to load the model. */
  latencyMs: number
  /** Code of the error if recognition failed. */
  error?: string
}

/** Computes the error rates of recordings, and the total errors divided by the total number of words. */
export function evaluate(heard: readonly HeardSample[], normalizer: NormalizerName) {
  const normalize = normalizers[normalizer]
  const raw = heard.map(({expected, actual}) => rates(expected, actual))
  const normalized = heard.map(({expected, actual}) => rates(normalize(expected), normalize(actual)))
  const symbols = heard.map(({expected, actual}) => symbolErrorRate(expected, actual))
  const ratedBy = (confidenceOf: (sample: HeardSample) => number | undefined) =>
    calibrate(heard.flatMap((sample, i) => ratedSample(sample, confidenceOf(sample), normalized[i] as Rates)))
  const latencies = heard.map(({latencyMs}) => latencyMs).sort((a, b) => a - b)
  return {
    samples: heard.map(({path, expected, actual, confidence, asrConfidence, latencyMs, error}, i) => {
      const {words, characters} = normalized[i] as Rates
      return {
        path,
        expected,
        actual,
        word_errors: words.errors,
        words: words.length,
        wer: words.rate,
        cer: characters.rate,
        confidence,
        ...(asrConfidence === undefined ? {} : {asr_confidence: asrConfidence}),
        latency_ms: latencyMs,
        ...(error === undefined ? {} : {error}),
      }
    }),
    raw: totals(raw),
    normalized: totals(normalized),
    symbol_error_rate: shareOf(symbols),
    calibration: {
      confidence: ratedBy(({confidence}) => confidence),
      asr_confidence: ratedBy(({asrConfidence}) => asrConfidence),
    },
    mean_latency_ms: latencies.reduce((sum, value) => sum + value, 0) / Math.max(1, latencies.length),
    median_latency_ms: median(latencies),
    p95_latency_ms: latencies[Math.ceil(0.95 * latencies.length) - 1] ?? 0,
  }
}

/** Nothing if recognition failed, or if there is no confidence. */
function ratedSample({error}: HeardSample, confidence: number | undefined, {words}: Rates): RatedSample[] {
  if (confidence === undefined || error !== undefined) return []
  return [{confidence, wordAccuracy: Math.max(0, 1 - words.rate), isExact: words.errors === 0}]
}

/** @param sorted in ascending order */
function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2
}

interface Rates {
  words: ErrorRate
  characters: ErrorRate
}

const rates = (expected: string, actual: string): Rates => ({
  words: wordErrorRate(expected, actual),
  characters: characterErrorRate(expected, actual),
})

const sumOf = (rates: readonly ErrorRate[], key: Exclude<keyof ErrorRate, 'rate'>): number =>
  rates.reduce((total, rate) => total + rate[key], 0)

const shareOf = (rates: readonly ErrorRate[]): number => errorShare(sumOf(rates, 'errors'), sumOf(rates, 'length'))

function totals(samples: readonly Rates[]) {
  const words = samples.map((rates) => rates.words)
  return {
    wer: shareOf(words),
    cer: shareOf(samples.map(({characters}) => characters)),
    errors: sumOf(words, 'errors'),
    words: sumOf(words, 'length'),
    substitutions: sumOf(words, 'substitutions'),
    insertions: sumOf(words, 'insertions'),
    deletions: sumOf(words, 'deletions'),
  }
}
