import {closest, distance} from 'fastest-levenshtein'

/**
 * The most similar candidate, or undefined if none is within two edits (for long words, a third of the length).
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word === '' || candidates.length === 0) return undefined
  const best = closest(word, candidates)
  const limit = Math.max(2, Math.floor(word.length / 3))
  return distance(word, best) <= Math.min(limit, word.length - 1) ? best : undefined
}

/** The most similar candidate with the same letters at the start, as versions of a name have; else as `nearest`. */
export function nearestVersion(name: string, candidates: readonly string[]): string | undefined {
  const stem = (of: string) => /^[a-z]*/i.exec(of)?.[0] ?? ''
  const versions = candidates.filter((each) => stem(name) !== '' && stem(each) === stem(name))
  return versions.length === 0 ? nearest(name, candidates) : closest(name, versions)
}

/** " Did you mean x?", or an empty string if there is no suggestion. */
export const didYouMean = (suggestion: string | undefined): string =>
  suggestion === undefined ? '' : ` Did you mean ${suggestion}?`
