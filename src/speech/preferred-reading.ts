import {countHits} from './text/bias-phrases.js'

/**
 * Maximum difference of log-probabilities between the best hypothesis and one with more preferred words: a factor of
 * 20. A hypothesis with a probability above 95 % is never replaced.
 */
export const acousticBound = Math.log(20)

export interface ReadingChoice<R> {
  /** Hypothesis that is selected without preferred words. */
  best: R
  text: (reading: R) => string
  /** Log-probability of the hypothesis, without bonuses for preferred words. */
  score: (reading: R) => number
  phrases: readonly string[]
}

/**
 * Sorts the hypotheses of a window. The first one has the most preferred words of those within `acousticBound` of the
 * best; the others keep their order.
 */
export function preferPhrases<R>(readings: readonly R[], {best, text, score, phrases}: ReadingChoice<R>): R[] {
  const least = score(best) - acousticBound
  let chosen = best
  let most = -1
  for (const reading of readings) {
    const hits = countHits(text(reading), phrases)
    if (hits <= most || score(reading) < least) continue
    chosen = reading
    most = hits
  }
  return [chosen, ...readings.filter((reading) => reading !== chosen)]
}
