import {distance} from 'fastest-levenshtein'
import type MiniSearch from 'minisearch'
import {everydayWords, isCommon, synonymsOf, type Term} from './terms.js'

/** Length from which a word with one letter more or less is a misspelling. */
const shortWord = 4

/** Length from which a word with one other letter is a misspelling: bread is not break. */
const longWord = 7

/**
 * A term of a question if the index has it, or else the most frequent term that was probably meant. Undefined if a word of
 * everyday language was meant.
 */
export function corrected(words: MiniSearch, {term, word}: Term): string | undefined {
  if (isCommon(term) || synonymsOf(term).length > 0 || words.search(term).length > 0) return term
  if ([...everydayWords].some((other) => isMisspelling(word, other))) return undefined
  const passages = new Map<string, number>()
  for (const {terms} of words.search(term, {fuzzy: 2}))
    for (const found of terms) passages.set(found, (passages.get(found) ?? 0) + 1)
  const close = [...passages].filter(([other]) => isMisspelling(word, other) || isMisspelling(term, other))
  return close.sort(([, a], [, b]) => b - a)[0]?.[0] ?? term
}

function isMisspelling(typed: string, meant: string): boolean {
  if (typed[0] !== meant[0]) return false
  const letters = (text: string) => [...text].sort().join('')
  if (typed.length === meant.length && distance(typed, meant) === 2 && letters(typed) === letters(meant)) return true
  const least = typed.length === meant.length ? longWord : shortWord
  return typed.length >= least && distance(typed, meant) === 1
}
