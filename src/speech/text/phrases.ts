import type {Draft, Protects, RefineRule} from './correction.js'
import type {PhraseTable} from './refine-rules.js'
import {joinWords, splitWords, type WrittenWord, wordKey} from './written-word.js'

/** Replaces the longest matching phrase of the table at each word. Punctuation between words separates phrases. */
export function replacePhrases(
  {words, trace}: Draft,
  table: PhraseTable,
  protects: Protects,
  rule: RefineRule,
  reason: string,
): Draft {
  const maxWords = Math.max(0, ...Array.from(table.keys(), (phrase) => phrase.split(' ').length))
  const out: WrittenWord[] = []
  const corrections = [...trace]
  for (let at = 0; at < words.length; ) {
    const found = longestPhrase(words, at, maxWords, table, protects)
    const heard = words.slice(at, at + Math.max(1, found?.length ?? 0))
    const written = found === undefined ? heard : withMarks(found.written, heard)
    if (found !== undefined) corrections.push({rule, before: joinWords(heard), after: joinWords(written), reason})
    out.push(...written)
    at += heard.length
  }
  return {words: out, trace: corrections}
}

function longestPhrase(
  words: readonly WrittenWord[],
  at: number,
  maxWords: number,
  table: PhraseTable,
  protects: Protects,
): {length: number; written: string} | undefined {
  for (let length = Math.min(maxWords, words.length - at); length > 0; length--) {
    const heard = words.slice(at, at + length)
    const written = table.get(heard.map(wordKey).join(' '))
    if (written !== undefined && isUnbroken(heard) && !heard.some(protects)) return {length, written}
  }
  return undefined
}

/** Punctuation is allowed before the first and after the last word. */
export const isUnbroken = (words: readonly WrittenWord[]): boolean =>
  words.every(({lead, trail}, i) => (i === 0 || lead === '') && (i === words.length - 1 || trail === ''))

/** Returns the replacement with the punctuation of the original words. */
function withMarks(written: string, heard: readonly WrittenWord[]): WrittenWord[] {
  const words = splitWords(written)
  return words.map(({lead, core, trail}, i) => ({
    ...heard[0],
    lead: i === 0 ? (heard[0]?.lead ?? '') + lead : lead,
    core,
    trail: i === words.length - 1 ? trail + (heard.at(-1)?.trail ?? '') : trail,
  }))
}
