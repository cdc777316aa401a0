import {writeSpokenNumbers} from './spoken-numbers.js'

/** Spoken symbols, longest first, and their characters. */
const symbols: readonly (readonly [spoken: string, written: string])[] = [
  ['dot dot dot', '...'],
  ['dot dot', '..'],
  ['double equals', '=='],
  ['not equals', '!='],
  ['open brace', '{'],
  ['close brace', '}'],
  ['open bracket', '['],
  ['close bracket', ']'],
  ['open paren', '('],
  ['close paren', ')'],
  ['fat arrow', '=>'],
  ['dash dash', '--'],
  ['new line', '\n'],
  ['arrow', '->'],
  ['semicolon', ';'],
  ['colon', ':'],
  ['underscore', '_'],
  ['bang', '!'],
  ['ampersand', '&'],
  ['pipe', '|'],
  ['asterisk', '*'],
  ['backslash', '\\'],
  ['slash', '/'],
]

const writtenBySpoken = new Map(symbols)
const maxSymbolWords = 3

/**
 * Converts spoken symbols, numbers and case commands to code: "x fat arrow y" becomes `x => y`, "camel case get user
 * name" becomes `getUserName`. Only complete words are converted: "pipeline" is kept.
 */
export function writeSpokenCode(text: string): string {
  const words = text.trim().split(/\s+/u).filter(Boolean)
  return applyCasing(closeUp(writeSpokenNumbers(writeSymbols(words))))
}

function writeSymbols(words: readonly string[]): string[] {
  const out: string[] = []
  for (let at = 0; at < words.length; ) {
    const {length, written} = symbolAt(words, at)
    out.push(written ?? (words[at] as string))
    at += length
  }
  return out.map((word, i) => (word === 'dot' && isName(out[i - 1]) && isName(out[i + 1]) ? '.' : word))
}

function symbolAt(words: readonly string[], at: number): {length: number; written?: string} {
  for (let length = Math.min(maxSymbolWords, words.length - at); length > 0; length--) {
    const written = writtenBySpoken.get(
      words
        .slice(at, at + length)
        .join(' ')
        .toLowerCase(),
    )
    if (written !== undefined) return {length, written}
  }
  return {length: 1}
}

const isName = (word: string | undefined) => word !== undefined && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(word)

/** Symbols without a space before or after them. */
const closeToLeft = new Set([')', ']', ';', ':', '_', '.', '/', '\\', '(', '\n'])
const closeToRight = new Set(['(', '[', '_', '.', '--', '!', '/', '\\', '\n'])

const closeUp = (words: readonly string[]): string =>
  words.reduce((text, word, i) => {
    const before = words[i - 1]
    const close = before === undefined || closeToLeft.has(word) || closeToRight.has(before)
    return close ? text + word : `${text} ${word}`
  }, '')

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Joins the words of a case command. */
const casings: Readonly<Record<string, (words: readonly string[]) => string>> = {
  camel: ([first = '', ...rest]) => first.toLowerCase() + rest.map(capital).join(''),
  pascal: (words) => words.map(capital).join(''),
  snake: (words) => words.join('_').toLowerCase(),
  kebab: (words) => words.join('-').toLowerCase(),
  constant: (words) => words.join('_').toUpperCase(),
}

function applyCasing(text: string): string {
  const command = /^(camel|pascal|snake|constant|kebab) ?case (.+)$/isu.exec(text)
  const [, name, rest] = command ?? []
  if (name === undefined || rest === undefined) return text
  return casings[name.toLowerCase()]?.(rest.split(/\s+/u).filter(Boolean)) ?? text
}
