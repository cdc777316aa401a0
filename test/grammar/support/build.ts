import {compileGrammar, type Expression, type Grammar, type Pattern} from '../../../src/grammar/index.js'

export const text = (value: string): Pattern => ({kind: 'text', text: value})

export const lexeme = (pattern: Pattern | string): Expression => ({
  kind: 'lexeme',
  pattern: typeof pattern === 'string' ? text(pattern) : pattern,
})

export const rule = (name: string): Expression => ({kind: 'rule', name})
export const sequence = (...parts: Expression[]): Expression => ({kind: 'sequence', parts})
export const either = (...options: Expression[]): Expression => ({kind: 'either', options})

export const range = (first: string, last: string): Pattern => ({
  kind: 'characters',
  ranges: [[first.codePointAt(0)!, last.codePointAt(0)!]],
})

export const many = (part: Pattern, min = 0, max = Number.POSITIVE_INFINITY): Pattern => ({
  kind: 'repeat',
  part,
  min,
  max,
})

/** A grammar whose first rule is its start. */
export const grammar = (rules: Readonly<Record<string, Expression>>): Grammar => ({
  start: Object.keys(rules)[0]!,
  rules: new Map(Object.entries(rules)),
})

export const compiled = (rules: Readonly<Record<string, Expression>>) => compileGrammar(grammar(rules))

/** The characters of a JSON string, escapes included. */
const stringCharacter: Pattern = {
  kind: 'either',
  options: [
    {
      kind: 'characters',
      ranges: [
        [0x20, 0x21],
        [0x23, 0x5b],
        [0x5d, 0xd7ff],
        [0xe000, 0x10ffff],
      ],
    },
    {kind: 'sequence', parts: [text('\\'), {kind: 'either', options: [...'"\\/bfnrt'].map(text)}]},
  ],
}

export const jsonString = (min = 0, max = Number.POSITIVE_INFINITY): Pattern => ({
  kind: 'sequence',
  parts: [text('"'), many(stringCharacter, min, max), text('"')],
})

export const integer: Pattern = {
  kind: 'sequence',
  parts: [
    many(text('-'), 0, 1),
    {kind: 'either', options: [text('0'), {kind: 'sequence', parts: [range('1', '9'), many(range('0', '9'), 0, 15)]}]},
  ],
}

/** The rules of a JSON value, with a space after commas and colons. */
export const jsonRules: Readonly<Record<string, Expression>> = {
  value: either(
    rule('object'),
    rule('array'),
    lexeme(jsonString()),
    lexeme(integer),
    ...['true', 'false', 'null'].map((each) => lexeme(each)),
  ),
  object: sequence(
    lexeme('{'),
    either(
      sequence(),
      sequence(rule('member'), {
        kind: 'repeat',
        part: sequence(lexeme(', '), rule('member')),
        min: 0,
        max: Number.POSITIVE_INFINITY,
      }),
    ),
    lexeme('}'),
  ),
  member: sequence(lexeme(jsonString()), lexeme(': '), rule('value')),
  array: sequence(
    lexeme('['),
    either(
      sequence(),
      sequence(rule('value'), {
        kind: 'repeat',
        part: sequence(lexeme(', '), rule('value')),
        min: 0,
        max: Number.POSITIVE_INFINITY,
      }),
    ),
    lexeme(']'),
  ),
}
