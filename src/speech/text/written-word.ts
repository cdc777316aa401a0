/**
 * A word as it is written between blanks: what stands before it, itself, and what stands after it. A symbol that may
 * belong to a name, such as `@`, `-` or `_`, is part of the word. The three together are the text.
 */
export interface WrittenWord {
  lead: string
  core: string
  trail: string
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

/** Words between blanks. */
export const splitWords = (text: string): WrittenWord[] => text.split(/\s+/u).filter(Boolean).map(splitWord)

export const joinWords = (words: readonly WrittenWord[]): string => words.map(joinWord).join(' ')

/** How words are compared and looked up: without marks around them and in lower case. */
export const wordKey = ({core}: WrittenWord): string => core.normalize('NFC').toLowerCase()

/** True if a sentence ends with these marks; an ellipsis goes on. */
const endsSentence = (trail: string) => /[.!?。！？।؟]/u.test(trail) && !/\.\.|…/u.test(trail)

const abbreviations = new Set('mr mrs ms dr prof st vs etc e.g i.e cf approx'.split(' '))

/** True if a new sentence begins after this word; initials and common abbreviations end in a full stop as well. */
export function closesSentence(word: WrittenWord): boolean {
  if (!endsSentence(word.trail)) return false
  if (/[!?。！？।؟]/u.test(word.trail)) return true
  return !abbreviations.has(wordKey(word)) && !/^\p{Lu}$/u.test(word.core)
}
