import type {Lexicon} from './lexicon.js'

/**
 * Returns the phrases that are preferred among candidates: aliases and words of the lexicon, then hotwords, without
 * duplicates, longest first, at most `max`.
 */
export function biasPhrases(lexicon: Lexicon, hotwords: readonly string[], max: number): string[] {
  const known = lexicon.entries.flatMap(({aliases, canonical}) => [...aliases, canonical])
  const phrases = [...new Set([...known, ...hotwords].map((phrase) => phrase.trim()).filter(Boolean))]
  // The sort is stable, so phrases of the same length keep their order.
  return phrases.sort((a, b) => b.length - a.length).slice(0, Math.max(1, max))
}

/** Phrases for names in source code: the name, and its words as they are spoken. Short names are left out. */
export const namePhrases = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name) => name.length >= minName).flatMap((name) => [name, spokenName(name)])),
]

/** Minimum length of a name, characters; shorter ones are too similar to other words. */
const minName = 3

const spokenName = (name: string) =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
    .toLowerCase()

/** Counts occurrences of the phrases as complete words, case-insensitive and without overlaps. */
export function countHits(text: string, phrases: readonly string[]): number {
  const lower = text.toLowerCase()
  return phrases.reduce((sum, phrase) => sum + occurrences(lower, phrase.toLowerCase()), 0)
}

function occurrences(text: string, phrase: string): number {
  let count = 0
  for (let at = text.indexOf(phrase); at >= 0; ) {
    const end = at + phrase.length
    const whole = !(isWordAt(text, at - 1) && isWordAt(text, at)) && !(isWordAt(text, end - 1) && isWordAt(text, end))
    if (whole) count++
    at = text.indexOf(phrase, whole ? end : at + 1)
  }
  return count
}

const isWordAt = (text: string, at: number) => /[\p{L}\p{N}\p{M}_]/u.test(text.charAt(at))
