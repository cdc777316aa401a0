import type {Diagnostic} from '../../lang/index.js'

/** A line that is not part of a program. */
export interface StrayLine {
  /** From 1. */
  number: number
  text: string
}

/**
 * The first line outside all declarations that the parser rejects and that reads like a sentence. If errors are not
 * reported otherwise, the first such line with any error.
 */
export function strayLine(
  source: string,
  diagnostics: readonly Diagnostic[],
  isChecked: boolean,
): StrayLine | undefined {
  const end = source.trimEnd().length
  const code = source.replaceAll(unread, (text) => ' '.repeat(text.length))
  let read = 0
  let depth = 0
  for (const found of diagnostics) {
    depth += opened(code.slice(read, found.start))
    read = Math.max(read, found.start)
    if (!isRejected(found) || (depth > 0 && found.start < end)) continue
    const line = lineAt(source, Math.min(found.start, end - 1))
    if ((!isChecked && found.severity === 'error') || isProse(found, line))
      return {number: source.slice(0, line.start).split('\n').length, text: line.text.trim()}
  }
  return undefined
}

/** Errors of the parser, and declarations that it skips although they may be prose: `let me explain`. */
const isRejected = ({code, severity}: Diagnostic) =>
  code.startsWith('parse.') && (severity === 'error' || code === 'parse.unsupported_declaration')

/** Strings and comments, in which brackets have no meaning. A string ends at the end of its line at the latest. */
const unread = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\/\/.*|#.*/g

/** The number of opening minus closing brackets in a piece of code. */
const opened = (code: string) => count(code, /[([{]/g) - count(code, /[)\]}]/g)

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length

/** The line that contains an offset, and the offset of its start. */
function lineAt(source: string, at: number): {start: number; text: string} {
  const start = source.lastIndexOf('\n', at - 1) + 1
  const end = source.indexOf('\n', start)
  return {start, text: source.slice(start, end === -1 ? undefined : end)}
}

/** A comment in the syntax of another language is invalid code, not prose. */
const comment = /^(?:\/\*|--|<!--)/

/** True if the line, or its part that the parser rejected, reads like a sentence. */
function isProse({start, code}: Diagnostic, line: {start: number; text: string}): boolean {
  if (code === 'parse.block_comment') return false
  const texts = [line.text, line.text.slice(start - line.start)].map((text) => text.trim())
  return texts.every((text) => !comment.test(text)) && texts.some(isSentence)
}

const listMark = /^(?:[-*+•]|\d+[.)])\s+/
const word = "\\p{L}[\\p{L}\\p{M}'’-]*"
const someWords = (min: number) => new RegExp(`${word}(?:,? +${word}){${min - 1},}`, 'u')

/** Endings of sentences, with the minimum number of adjacent words for each. */
const endings: readonly (readonly [ending: RegExp, words: RegExp])[] = [
  [/[!?…。！？：]$/u, someWords(1)],
  [/\.$/, someWords(2)],
  [/:$/, someWords(3)],
  [/^[\p{L}\p{M}'’, -]+$/u, someWords(3)],
]

/** Maximum number of characters examined, from the end of a line. */
const maxLooked = 500

/** Adjacent words with the ending of a sentence, or nothing but words; also in brackets, quotes and lists. */
function isSentence(line: string): boolean {
  const text = line.slice(-maxLooked)
  if (listMark.test(text) && someWords(1).test(text)) return true
  const bare = text.replace(/^[("'*_`>]+|[)"'*_`]+$/g, '')
  return endings.some(([ending, words]) => ending.test(bare) && words.test(bare))
}
