/**
 * A whitespace-separated word with the punctuation before and after it. A symbol that may belong to a name, such as
 * `@`, `-` or `_`, is part of the word. The concatenation of the three is the original text.
 */
export interface WrittenWord {
  lead: string
  core: string
  trail: string
  /** Index of the segment of the transcript that the word belongs to. */
  segment?: number
}

const opening = /^[\p{Ps}\p{Pi}"'¿¡]$/u
const closing = /^[\p{Pe}\p{Pf}"'.,;:!?…。，、！？；：।؟،]$/u

export function splitWord(text: string): WrittenWord {
  let start = 0
  while (start < text.length && opening.test(text.charAt(start))) start++
  let end = text.length
  while (end > start && closing.test(text.charAt(end - 1))) end--
  return {lead: text.slice(0, start), core: text.slice(start, end), trail: text.slice(end)}
}

export const joinWord = ({lead, core, trail}: WrittenWord): string => lead + core + trail

/** Splits a text at whitespace. */
export const splitWords = (text: string): WrittenWord[] => text.split(/\s+/u).filter(Boolean).map(splitWord)

export const joinWords = (words: readonly WrittenWord[]): string => words.map(joinWord).join(' ')

/** Key for comparison and lookup of words: without surrounding punctuation, in lower case. */
export const wordKey = ({core}: WrittenWord): string => core.normalize('NFC').toLowerCase()

/** True if this punctuation ends a sentence; an ellipsis does not. */
const endsSentence = (trail: string) => /[.!?。！？।؟]/u.test(trail) && !/\.\.|…/u.test(trail)

const abbreviations = new Set('mr mrs ms dr prof st vs etc e.g i.e cf approx'.split(' '))

/** True if the word ends a sentence. The full stop of initials and common abbreviations does not. */
export function closesSentence(word: WrittenWord): boolean {
  if (!endsSentence(word.trail)) return false
  if (/[!?。！？।؟]/u.test(word.trail)) return true
  return !abbreviations.has(wordKey(word)) && !/^\p{Lu}$/u.test(word.core)
}
