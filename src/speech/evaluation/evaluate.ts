import {characterErrorRate, type ErrorRate, errorShare, wordErrorRate} from './error-rate.js'
import {type NormalizerName, normalizers} from './normalize.js'

/** Expected and recognised text of a recording. */
export interface HeardSample {
  path: string
  expected: string
  actual: string
  confidence: number
  latencyMs: number
  /** Code of the error if recognition failed. */
  error?: string
}

/** Computes the error rates of recordings, and the total errors divided by the total number of words. */
export function evaluate(heard: readonly HeardSample[], normalizer: NormalizerName) {
  const normalize = normalizers[normalizer]
  const raw = heard.map(({expected, actual}) => rates(expected, actual))
  const normalized = heard.map(({expected, actual}) => rates(normalize(expected), normalize(actual)))
  const latencies = heard.map(({latencyMs}) => latencyMs).sort((a, b) => a - b)
  return {
    samples: heard.map(({path, expected, actual, confidence, latencyMs, error}, i) => {
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
        latency_ms: latencyMs,
        ...(error === undefined ? {} : {error}),
      }
    }),
    raw: totals(raw),
    normalized: totals(normalized),
    mean_latency_ms: latencies.reduce((sum, value) => sum + value, 0) / Math.max(1, latencies.length),
    median_latency_ms: median(latencies),
  }
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

function totals(samples: readonly Rates[]) {
  const sum = (count: (rates: Rates) => number) => samples.reduce((total, one) => total + count(one), 0)
  const [errors, words] = [sum((one) => one.words.errors), sum((one) => one.words.length)]
  return {
    wer: errorShare(errors, words),
    cer: errorShare(
      sum((one) => one.characters.errors),
      sum((one) => one.characters.length),
    ),
    errors,
    words,
    substitutions: sum((one) => one.words.substitutions),
    insertions: sum((one) => one.words.insertions),
    deletions: sum((one) => one.words.deletions),
  }
}
