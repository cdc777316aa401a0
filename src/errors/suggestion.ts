import {closest, distance} from 'fastest-levenshtein'

/**
 * The candidate a person most likely meant, or undefined when nothing is near enough: at most two edits, or a third of
 * the word's length for long words.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word === '' || candidates.length === 0) return undefined
  const best = closest(word, candidates)
  const limit = Math.max(2, Math.floor(word.length / 3))
  return distance(word, best) <= Math.min(limit, word.length - 1) ? best : undefined
}

/** " Did you mean x?" or the empty string: for the end of a sentence. */
export const didYouMean = (suggestion: string | undefined): string =>
  suggestion === undefined ? '' : ` Did you mean ${suggestion}?`
