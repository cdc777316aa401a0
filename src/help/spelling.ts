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
  if (isCommon(term) || synonymsOf(term).length > 0) return term
  const known = words.search(term).length
  // The documentation has examples of misspelled names.
  if (known > 0) return (known === 1 && closest(words, term, (other) => isSwapped(word, other))) || term
  if ([...everydayWords].some((other) => isMisspelling(word, other))) return undefined
  return closest(words, term, (other) => isMisspelling(word, other) || isMisspelling(term, other)) ?? term
}

/** The most frequent term of the index that is like another one and can be meant by it. */
function closest(words: MiniSearch, term: string, canBeMeant: (other: string) => boolean): string | undefined {
  const passages = new Map<string, number>()
  for (const {terms} of words.search(term, {fuzzy: 2}))
    for (const found of terms) passages.set(found, (passages.get(found) ?? 0) + 1)
  const close = [...passages].filter(([other]) => canBeMeant(other))
  return close.sort(([, a], [, b]) => b - a)[0]?.[0]
}

function isMisspelling(typed: string, meant: string): boolean {
  if (typed[0] !== meant[0]) return false
  if (isSwapped(typed, meant)) return true
  const minLength = typed.length === meant.length ? longWord : shortWord
  return typed.length >= minLength && distance(typed, meant) === 1
}

/** Whether two letters have changed places. */
function isSwapped(typed: string, meant: string): boolean {
  const letters = (text: string) => [...text].sort().join('')
  return typed.length === meant.length && distance(typed, meant) === 2 && letters(typed) === letters(meant)
}
