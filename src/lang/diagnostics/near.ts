import {distance} from 'fastest-levenshtein'

/** The most similar candidate within an edit distance of a third of the word's length, ignoring case. */
export function near(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const edits = editsBetween(lower, candidate.toLowerCase())
    if (edits < least && edits < word.length && isRelated(lower, candidate.toLowerCase())) {
      best = candidate
      least = edits
    }
  }
  return best
}

/** A short word with another first letter is another word: `set` is not a misspelled `get`. */
const isRelated = (word: string, other: string) =>
  word.length > shortWord || word.length !== other.length || word[0] === other[0] || isSwapped(word, other)
const shortWord = 4

/** The number of edits between two words; two swapped letters count as one edit. */
const editsBetween = (word: string, other: string) => (isSwapped(word, other) ? 1 : distance(word, other))

function isSwapped(word: string, other: string): boolean {
  let at = 0
  while (at < word.length && word[at] === other[at]) at++
  return at + 1 < word.length && word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2) === other
}

/** The suffix " Did you mean 'x'?", or an empty string. */
export const didYouMean = (candidate: string | undefined): string =>
  candidate === undefined ? '' : ` Did you mean '${candidate}'?`
