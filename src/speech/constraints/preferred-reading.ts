import type {Preference} from '../model/model.js'
import {countHits} from '../text/bias-phrases.js'

/** Difference of log-probabilities beyond which a text does not match the audio: a factor of 22,000. */
export const mismatch = 10

/**
 * Difference of log-probabilities up to which readings are alternatives: a factor of 20. At `usualStrength`, it is also the
 * bound of preferred phrases, so that they do not replace a hypothesis with a probability above 95 %.
 */
export const acousticBound = Math.log(20)

/** The default strength of the bias. */
const usualStrength = 0.8

/**
 * Maximum difference of log-probabilities between the best hypothesis and one with more preferred words. It is proportional
 * to the strength of the bias, but never admits a text that does not match the audio.
 */
export const preferenceBound = (strength: number): number =>
  Math.min(mismatch, (strength / usualStrength) * acousticBound)

export interface ReadingChoice<R> {
  /** Hypothesis that is selected without preferred words. */
  best: R
  text: (reading: R) => string
  /** Log-probability of the hypothesis, without bonuses for preferred words. */
  score: (reading: R) => number
  preferred: Preference
}

/**
 * Sorts the hypotheses of a window. The first one has the most preferred words of those within `preferenceBound` of
 * the best; the others keep their order.
 */
export function preferPhrases<R>(readings: readonly R[], {best, text, score, preferred}: ReadingChoice<R>): R[] {
  const {phrases, strength} = preferred
  if (strength <= 0) return [best, ...readings.filter((reading) => reading !== best)]
  const minScore = score(best) - preferenceBound(strength)
  let chosen = best
  let maxHits = -1
  for (const reading of readings) {
    const hits = countHits(text(reading), phrases)
    if (hits <= maxHits || score(reading) < minScore) continue
    chosen = reading
    maxHits = hits
  }
  return [chosen, ...readings.filter((reading) => reading !== chosen)]
}
