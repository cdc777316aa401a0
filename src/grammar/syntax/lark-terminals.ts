import {SvcError} from '../../errors/index.js'
import type {Expression, Pattern} from '../grammar.js'
import {characters, text} from '../pattern/build.js'
import {wholePattern} from '../pattern/ecma.js'
import {ignoringCase} from '../pattern/ignore-case.js'
import type {Scanner} from './scanner.js'

/** Terminals of Lark's library `common`, as regular expressions. */
const common: Readonly<Record<string, string>> = {
  DIGIT: '[0-9]',
  HEXDIGIT: '[0-9a-fA-F]',
  INT: '[0-9]+',
  SIGNED_INT: '[+-]?[0-9]+',
  DECIMAL: '[0-9]+\\.[0-9]*|\\.[0-9]+',
  FLOAT: '[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?',
  NUMBER: '[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+',
  SIGNED_NUMBER: '[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+)',
  ESCAPED_STRING: '"(?:[^"\\\\\\n]|\\\\[^\\n])*"',
  LCASE_LETTER: '[a-z]',
  UCASE_LETTER: '[A-Z]',
  LETTER: '[a-zA-Z]',
  WORD: '[a-zA-Z]+',
  CNAME: '[a-zA-Z_][a-zA-Z0-9_]*',
  WS_INLINE: '[ \\t]+',
  WS: '[ \\t\\f\\r\\n]+',
  CR: '\\r',
  LF: '\\n',
  NEWLINE: '(?:\\r?\\n)+',
}

export const commonTerminal = (name: string): Pattern | undefined =>
  Object.hasOwn(common, name) ? wholePattern(common[name]!) : undefined

const literal = /"(?:[^"\\\r\n]|\\.)*"/y
const regex = /\/(?!\/)(?:[^/\\\r\n]|\\.)+\//y

/** Reads `"text"`, `"a".."z"` or `/regex/`; undefined if there is none. */
export function readTerminal(scanner: Scanner): Expression | undefined {
  const at = scanner.at
  const quoted = scanner.match(literal)
  if (quoted !== undefined) return {kind: 'lexeme', pattern: readText(scanner, quoted, at)}
  const delimited = scanner.match(regex)
  if (delimited === undefined) return undefined
  const flags = scanner.match(/[a-z]+/y) ?? ''
  if (/[^is]/.test(flags)) throw scanner.fault(`the flags ${flags} are not supported`, at)
  const pattern = readRegex(scanner, delimited.slice(1, -1).replaceAll('\\/', '/'), flags.includes('s'), at)
  return {kind: 'lexeme', pattern: flags.includes('i') ? ignoringCase(pattern) : pattern}
}

function readText(scanner: Scanner, quoted: string, at: number): Pattern {
  const value = unquoted(scanner, quoted, at)
  if (scanner.match(/\s*\.\.\s*/y) === undefined) {
    return scanner.match(/i(?![a-zA-Z0-9_])/y) === undefined ? text(value) : ignoringCase(text(value))
  }
  const last = unquoted(scanner, scanner.match(literal) ?? '""', scanner.at)
  const [from, to] = [value, last].map((each) => ([...each].length === 1 ? each.codePointAt(0)! : Number.NaN))
  if (!(from! <= to!)) throw scanner.fault('a range needs two characters in order', at)
  return characters([[from!, to!]])
}

function unquoted(scanner: Scanner, quoted: string, at: number): string {
  // Python has escapes that JSON lacks.
  const json = quoted
    .replaceAll(/\\x([0-9a-fA-F]{2})/g, '\\u00$1')
    .replaceAll(/\\'/g, "'")
    .replaceAll(/\t/g, '\\t')
  try {
    return JSON.parse(json) as string
  } catch (cause) {
    throw Object.assign(scanner.fault(`${quoted} has an unknown escape`, at), {cause})
  }
}

function readRegex(scanner: Scanner, source: string, dotAll: boolean, at: number): Pattern {
  try {
    return wholePattern(source, {dotAll})
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'pattern_unsupported') throw error
    const {reason} = error.params as {reason: string}
    throw scanner.fault(`the regular expression cannot be enforced: ${reason}`, at)
  }
}
