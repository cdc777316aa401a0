import {distance} from 'fastest-levenshtein'

/** The candidate that was most likely meant: within a third of the word's length in edits, case left aside. */
export function near(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const edits = distance(lower, candidate.toLowerCase())
    if (edits < least && edits < word.length) {
      best = candidate
      least = edits
    }
  }
  return best
}

/** " Did you mean 'x'?" or nothing: for the end of a sentence. */
export const didYouMean = (candidate: string | undefined): string =>
  candidate === undefined ? '' : ` Did you mean '${candidate}'?`
