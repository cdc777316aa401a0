/** Text operations with the semantics of Python's `str`, which counts code points and has a wider set of white space. */

import {budget} from './budget.js'

/** A character of white space, as a regular expression. */
export const space = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const isSpace = new RegExp(`^${space}$`)

const hasPairs = (text: string) => /[\ud800-\udbff]/.test(text)

/** The characters of a text; a text without surrogate pairs is indexed directly. */
export function characters(text: string): ArrayLike<string> & Iterable<string> {
  if (!hasPairs(text)) return text
  budget.spend(text.length)
  return Array.from(text)
}

export function textLength(text: string): number {
  let {length} = text
  for (let i = 1; i < text.length; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800
    if (isPair) length--
  }
  return length
}

/** Removes characters of a set, by default white space, from the ends of a text. */
export function strip(text: string, set: string | undefined, sides: 'both' | 'left' | 'right'): string {
  const members = set === undefined ? undefined : new Set(set)
  const isMember = (character: string) => members?.has(character) ?? isSpace.test(character)
  let start = 0
  let end = text.length
  if (sides !== 'right')
    while (start < end) {
      const character = String.fromCodePoint(text.codePointAt(start) as number)
      if (!isMember(character)) break
      start += character.length
    }
  if (sides !== 'left')
    while (end > start) {
      const isPair = end - start > 1 && /[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 2, end))
      const character = text.slice(isPair ? end - 2 : end - 1, end)
      if (!isMember(character)) break
      end -= character.length
    }
  return text.slice(start, end)
}

export const rstrip = (text: string): string => strip(text, undefined, 'right')

/** Lines by all line boundaries of Python, with or without them. */
export function splitLines(text: string, keepEnds = false): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Python ends lines at these, too.
  const boundary = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g
  const lines: string[] = []
  let start = 0
  for (const match of text.matchAll(boundary)) {
    const end = match.index + match[0].length
    lines.push(text.slice(start, keepEnds ? end : match.index))
    start = end
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** Splits at white space; at most `limit` times, from the left or the right. */
export function splitWords(text: string, limit: number, fromRight: boolean): string[] {
  const words = [...text.matchAll(wordPattern)]
  if (limit < 0 || words.length <= limit) return words.map(([word]) => word)
  if (fromRight) {
    const first = words.length - limit
    const head = words[first - 1] as RegExpMatchArray & {index: number}
    return [text.slice(0, head.index + head[0].length), ...words.slice(first).map(([w]) => w)]
  }
  const rest = words[limit] as RegExpMatchArray & {index: number}
  return [...words.slice(0, limit).map(([word]) => word), text.slice(rest.index)]
}
const wordPattern = new RegExp(`(?:(?!${space})[^])+`, 'g')

/** Splits at a separator; at most `limit` times, from the left or the right. */
export function splitAt(text: string, separator: string, limit: number, fromRight: boolean): string[] {
  const parts = text.split(separator)
  if (limit < 0 || parts.length <= limit + 1) return parts
  return fromRight
    ? [parts.slice(0, parts.length - limit).join(separator), ...parts.slice(parts.length - limit)]
    : [...parts.slice(0, limit), parts.slice(limit).join(separator)]
}

/** Digraphs whose title case differs from their upper case: three code points each, of which the second is title case. */
const titleCase: ReadonlyMap<string, string> = new Map(
  [0x1c4, 0x1c7, 0x1ca, 0x1f1].flatMap((first) =>
    [0, 1, 2].map((i) => [String.fromCharCode(first + i), String.fromCharCode(first + 1)] as const),
  ),
)

export function titled(character: string): string {
  const special = titleCase.get(character)
  if (special !== undefined) return special
  const [first = '', ...rest] = character.toUpperCase()
  return first + rest.join('').toLowerCase()
}

export function capitalized(text: string): string {
  const [first] = text
  return first === undefined ? '' : titled(first) + text.slice(first.length).toLowerCase()
}

const isCased = (text: string) => /[\p{Lowercase}\p{Uppercase}\p{Lt}]/u.test(text)

/** Each run of letters begins with a capital. */
export function titledWords(text: string): string {
  let afterLetter = false
  let found = ''
  for (const character of text) {
    found += afterLetter ? character.toLowerCase() : titled(character)
    afterLetter = isCased(character)
  }
  return found
}

export const isLowerText = (text: string): boolean => isCased(text) && !/[\p{Lu}\p{Lt}]/u.test(text)
export const isUpperText = (text: string): boolean => isCased(text) && !/[\p{Ll}\p{Lt}]/u.test(text)

/** Whether words begin with a capital, followed by small letters only. */
export function isTitleText(text: string): boolean {
  let afterLetter = false
  let any = false
  for (const character of text) {
    const isCapital = /[\p{Lu}\p{Lt}]/u.test(character)
    if (isCapital ? afterLetter : isCased(character) && !afterLetter) return false
    afterLetter = isCased(character)
    any ||= afterLetter
  }
  return any
}

export const isAll = (text: string, pattern: RegExp): boolean =>
  text !== '' && new RegExp(`^(?:${pattern.source})+$`, 'u').test(text)

export const isSpaceText = (text: string): boolean => isAll(text, isSpace)

/** Python's `repr` of a text. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const named: Readonly<Record<string, string>> = {
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\\': '\\\\',
    [quote]: `\\${quote}`,
  }
  const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
  const escaped = (character: string) => {
    if (named[character] !== undefined) return named[character]
    if (character === ' ' || !/[\p{C}\p{Z}]/u.test(character)) return character
    const code = character.codePointAt(0) as number
    return code < 256 ? `\\x${hex(code, 2)}` : code < 65_536 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
  }
  return quote + text.replaceAll(/[\p{C}\p{Z}\\'"]/gu, escaped) + quote
}
