import {isDeepStrictEqual} from 'node:util'
import type {Expression, Pattern} from '../grammar.js'
import {
  anyText,
  both,
  characters,
  commonRanges,
  complementRanges,
  digit,
  either,
  not,
  optional,
  type Ranges,
  repeat,
  sequence,
  text,
} from '../pattern/build.js'

/**
 * Whitespace between the tokens of a JSON text. `none` writes none. `bounded` allows one space after `:` and `,`, and a
 * line break with at most 32 spaces where usual printers break lines; without a bound, small models repeat whitespace.
 */
export type Whitespace = 'none' | 'bounded'

export const lexeme = (pattern: Pattern): Expression => ({kind: 'lexeme', pattern})

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}
const escaped = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
] as const
const plain = complementRanges(escaped)

/** The one spelling of a character in a JSON string: plain, a short escape, or `\u00XX` for other control characters. */
function spelling(character: string): Pattern {
  const point = character.codePointAt(0)!
  const short = shortEscapes[character]
  if (short !== undefined) return text(short)
  if (point > 0x1f) return text(character)
  const hexDigits = [...point.toString(16).padStart(2, '0')].map((hex) => {
    return characters([hex, hex.toUpperCase()].map((each) => [each.codePointAt(0)!, each.codePointAt(0)!] as const))
  })
  return sequence(text('\\u00'), ...hexDigits)
}

const escapes = escaped.flatMap(([from, to]) =>
  Array.from({length: to - from + 1}, (_, index) => String.fromCodePoint(from + index)),
)
const anyBodyCharacter = either(characters(plain), ...escapes.map(spelling))
const anyBody = repeat(anyBodyCharacter)

const bodyCharacters = new WeakMap<Pattern, Pattern>()

function bodyCharacter(ranges: Ranges): Pattern {
  const common = commonRanges(ranges, plain)
  const special = escapes.filter((each) => {
    const point = each.codePointAt(0)!
    return ranges.some(([from, to]) => from <= point && point <= to)
  })
  const isAny = special.length === escapes.length && isDeepStrictEqual(common, plain)
  return isAny ? anyBodyCharacter : either(characters(common), ...special.map(spelling))
}

/** Reads a pattern over the characters of a string as one over the text between its quotes. Each character has one spelling. */
function body(pattern: Pattern): Pattern {
  if (pattern === anyText) return anyBody
  switch (pattern.kind) {
    case 'text':
      return sequence(...[...pattern.text].map(spelling))
    case 'characters': {
      const known = bodyCharacters.get(pattern) ?? bodyCharacter(pattern.ranges)
      bodyCharacters.set(pattern, known)
      return known
    }
    case 'sequence':
      return sequence(...pattern.parts.map(body))
    case 'either':
      return either(...pattern.options.map(body))
    case 'repeat':
      return repeat(body(pattern.part), pattern.min, pattern.max)
    case 'both':
      return both(...pattern.parts.map(body))
    case 'not':
      return both(anyBody, not(body(pattern.part)))
  }
}

const quote = text('"')

const strings = new WeakMap<Pattern, Pattern>()

/** The JSON strings whose decoded characters match the pattern; the same object for the same pattern. */
export function jsonString(pattern: Pattern): Pattern {
  const known = strings.get(pattern) ?? sequence(quote, body(pattern), quote)
  strings.set(pattern, known)
  return known
}

const integerPart = either(text('0'), sequence(characters([[0x31, 0x39]]), repeat(digit)))

/** Any JSON number. */
export const jsonNumber: Pattern = sequence(
  optional(text('-')),
  integerPart,
  optional(sequence(text('.'), repeat(digit, 1))),
  optional(
    sequence(
      characters([
        [0x45, 0x45],
        [0x65, 0x65],
      ]),
      optional(either(text('+'), text('-'))),
      repeat(digit, 1),
    ),
  ),
)

/** The fixed tokens of objects and arrays with the whitespace around them. */
export interface Punctuation {
  readonly open: (bracket: '{' | '[') => Expression
  readonly close: (bracket: '}' | ']') => Expression
  readonly empty: (brackets: '{}' | '[]') => Expression
  readonly comma: Expression
  /** A key, with its quotes and the colon. */
  readonly key: (name: Pattern) => Expression
  /** A string whose characters match a pattern. */
  readonly string: (pattern: Pattern) => Expression
}

const gaps: Readonly<Record<Whitespace, {space: Pattern; gap: Pattern}>> = {
  none: {space: text(''), gap: text('')},
  bounded: {
    space: optional(text(' ')),
    gap: optional(either(text(' '), sequence(text('\n'), repeat(text(' '), 0, 32)))),
  },
}

/** Grammars share the tokens, so that they are converted once. */
const punctuations: Readonly<Record<Whitespace, Punctuation>> = {
  none: createPunctuation(gaps.none),
  bounded: createPunctuation(gaps.bounded),
}

export const punctuation = (whitespace: Whitespace): Punctuation => punctuations[whitespace]

function createPunctuation({space, gap}: {space: Pattern; gap: Pattern}): Punctuation {
  const known = new Map<string, Expression>()
  const of = (key: string, ...parts: readonly Pattern[]): Expression => {
    const token = known.get(key) ?? lexeme(sequence(...parts))
    known.set(key, token)
    return token
  }
  return {
    open: (bracket) => of(bracket, text(bracket), gap),
    close: (bracket) => of(bracket, gap, text(bracket)),
    empty: (brackets) => of(brackets, text(brackets[0]!), gap, text(brackets[1]!)),
    comma: of(',', text(','), gap),
    key: (name) => lexeme(sequence(jsonString(name), text(':'), space)),
    string: (pattern) => lexeme(jsonString(pattern)),
  }
}
