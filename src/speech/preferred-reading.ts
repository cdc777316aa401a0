import {countHits} from './text/bias-phrases.js'

/**
 * How much less likely than the best reading one with more of the preferred words may be and still win: 20 times, as a
 * difference of log-probabilities. A model that is more than 95 % sure of its reading is never overruled.
 */
export const acousticBound = Math.log(20)

export interface ReadingChoice<R> {
  /** What the model would choose without preferred words. */
  best: R
  text: (reading: R) => string
  /** Log-probability of the whole reading, without anything that was added for preferred words. */
  score: (reading: R) => number
  phrases: readonly string[]
}

/**
 * The readings of a window, the chosen one first: of those within `acousticBound` of the best one, the one with the most
 * preferred words, the first on ties. The others keep their order.
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
