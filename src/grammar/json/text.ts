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

/** Reads a pattern over the characters of a string as one over the text between its quotes. Each character has one spelling. */
function body(pattern: Pattern): Pattern {
  if (pattern === anyText) return anyBody
  switch (pattern.kind) {
    case 'text':
      return sequence(...[...pattern.text].map(spelling))
    case 'characters': {
      const common = commonRanges(pattern.ranges, plain)
      const special = escapes.filter((each) => {
        const point = each.codePointAt(0)!
        return pattern.ranges.some(([from, to]) => from <= point && point <= to)
      })
      const isAny = special.length === escapes.length && isDeepStrictEqual(common, plain)
      if (isAny) return anyBodyCharacter
      return either(characters(common), ...special.map(spelling))
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

/** The JSON strings whose decoded characters match the pattern. */
export const jsonString = (pattern: Pattern): Pattern => sequence(quote, body(pattern), quote)

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
}

export function punctuation(whitespace: Whitespace): Punctuation {
  const bounded = whitespace === 'bounded'
  const space = bounded ? optional(text(' ')) : text('')
  const gap = bounded ? optional(either(text(' '), sequence(text('\n'), repeat(text(' '), 0, 32)))) : text('')
  return {
    open: (bracket) => lexeme(sequence(text(bracket), gap)),
    close: (bracket) => lexeme(sequence(gap, text(bracket))),
    empty: (brackets) => lexeme(sequence(text(brackets[0]!), gap, text(brackets[1]!))),
    comma: lexeme(sequence(text(','), gap)),
    key: (name) => lexeme(sequence(jsonString(name), text(':'), space)),
  }
}
