import {joinWord, splitWord, type WrittenWord} from './written-word.js'

/** Paths, file names and numbers, whose spelling matters. */
const technical = /[/\\.0-9]/

/** True if rules must not change a word: protected by the caller, a flag, or technical by its form. */
export function isProtected(word: WrittenWord, callers: ReadonlySet<string> = new Set()): boolean {
  const written = joinWord(word)
  const {core} = word
  return (
    technical.test(core) || core.startsWith('--') || written.includes('::') || callers.has(core) || callers.has(written)
  )
}

/** Scripts without spaces between words. Their characters are words of their own here. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Myanmar}\\p{Script=Khmer}'
const boundary = new RegExp(`\\s+|(?<=[${unspaced}])|(?=[${unspaced}])`, 'u')

/** The protected words of a text, without the punctuation around them, unless that is what makes them protected. */
export const protectedWords = (text: string): string[] =>
  text
    .split(boundary)
    .map(splitWord)
    .filter((word) => isProtected(word))
    .map((word) => (isProtected({...word, lead: '', trail: ''}) ? word.core : joinWord(word)))
