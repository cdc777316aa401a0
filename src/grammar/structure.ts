import type {Expression, Grammar, Pattern} from './grammar.js'
import type {Punctuation} from './json/text.js'
import {markOf} from './marks.js'
import {
  anyText,
  both,
  characters,
  complementRanges,
  either as eitherPattern,
  not,
  repeat as repeatPattern,
  sequence as sequencePattern,
  text,
} from './pattern/build.js'

/**
 * Structural tags: the parts of a reply that consists of free text, tags, and texts of other grammars. A tag is a text in which
 * marks stand for special tokens.
 */
export const structure = {tag, freeText, textBefore, valueBefore, part, sequence, either, repeat, optional, lexeme}

/** A grammar as part of another one: its rules, with names that no other part has, and the expression that matches it. */
export interface GrammarPart {
  readonly expression: Expression
  readonly rules: ReadonlyMap<string, Expression>
}

function lexeme(pattern: Pattern): Expression {
  return {kind: 'lexeme', pattern}
}

function sequence(...parts: readonly Expression[]): Expression {
  return {kind: 'sequence', parts}
}

function either(...options: readonly Expression[]): Expression {
  return options.length === 1 ? options[0]! : {kind: 'either', options}
}

function repeat(of: Expression, min = 0, max = Number.POSITIVE_INFINITY): Expression {
  return {kind: 'repeat', part: of, min, max}
}

function optional(of: Expression): Expression {
  return repeat(of, 0, 1)
}

/** Exactly a tag. */
function tag(tagText: string): Expression {
  const parts = tagText.split(/([\ud800-\udfff])/u).flatMap((each): Expression[] => {
    const mark = markOf(each)
    if (mark !== undefined) return [{kind: 'special', mark}]
    return each === '' ? [] : [lexeme(text(each))]
  })
  return sequence(...parts)
}

/** Text that contains none of the tags. Those with marks need no check, because no text contains a mark. */
function without(tags: readonly string[]): Pattern {
  const texts = tags.filter((each) => each !== '' && isText(each))
  if (texts.length === 0) return anyText
  return not(sequencePattern(anyText, eitherPattern(...texts.map(text)), anyText))
}

const isText = (tagText: string): boolean => [...tagText].every((each) => markOf(each) === undefined)

/** @param start a text with which it does not begin; default: any beginning */
function freeText(tags: readonly string[], start?: string): Expression {
  const pattern = without(tags)
  if (start === undefined) return lexeme(pattern)
  return lexeme(both(pattern, not(sequencePattern(text(start), anyText))))
}

/**
 * Text up to a tag, with the tag. The text contains neither it nor the others. Both are one lexeme as far as possible, because a
 * lexeme that may end everywhere makes masks slow.
 */
function textBefore(end: string, tags: readonly string[] = []): Expression {
  const at = [...end].findIndex((each) => markOf(each) !== undefined)
  const begin = at === -1 ? end : end.slice(0, at)
  if (begin === '') return sequence(lexeme(without(tags)), tag(end))
  const head = lexeme(sequencePattern(without([...tags, begin]), text(begin)))
  return sequence(head, tag(end.slice(begin.length)))
}

/** Text of a pattern up to a tag, with the tag. The text does not contain the tag. */
function valueBefore(value: Pattern, end: string): Expression {
  if (!isText(end)) return sequence(lexeme(value), tag(end))
  return lexeme(sequencePattern(both(value, without([end])), text(end)))
}

interface PartOptions {
  dialect?: string
  replace?: (pattern: Pattern) => Pattern
}

/** Rules that equal parts of a grammar share: those of any JSON value. */
const isShared = (rule: string): boolean => rule.startsWith('json ')

/**
 * @param name a text that is unique among the parts of a grammar
 * @param options name of what the shared rules are written in, if not JSON; what replaces the patterns of lexemes
 */
function part({start, rules}: Grammar, name: string, {dialect = '', replace}: PartOptions = {}): GrammarPart {
  const renamed = (rule: string) => `${isShared(rule) ? dialect : name} ${rule}`
  const convert = (expression: Expression): Expression => {
    switch (expression.kind) {
      case 'lexeme':
        return replace === undefined ? expression : lexeme(replace(expression.pattern))
      case 'special':
      case 'nested':
        return expression
      case 'rule':
        return {kind: 'rule', name: renamed(expression.name)}
      case 'sequence':
        return {kind: 'sequence', parts: expression.parts.map(convert)}
      case 'either':
        return {kind: 'either', options: expression.options.map(convert)}
      case 'repeat':
        return {...expression, part: convert(expression.part)}
    }
  }
  return {
    expression: {kind: 'rule', name: renamed(start)},
    rules: new Map([...rules].map(([rule, expression]) => [renamed(rule), convert(expression)])),
  }
}

/** Keys of undeclared properties: those that cannot be mistaken for other parts. */
const plainKey = repeatPattern(characters(complementRanges([[0, 0x20], ...[...':,{}[]<>"'].map(rangeOf)])), 1)

function rangeOf(character: string): [number, number] {
  const point = character.charCodeAt(0)
  return [point, point]
}

/** Values as in JSON, without white space, with keys without quotes, and with texts as they are between two equal tags. */
export function braceNotation(quote: string): Punctuation {
  return {
    open: (bracket) => lexeme(text(bracket)),
    close: (bracket) => lexeme(text(bracket)),
    empty: (brackets) => lexeme(text(brackets)),
    comma: lexeme(text(',')),
    key: (name) => lexeme(sequencePattern(name.kind === 'text' ? name : both(name, plainKey), text(':'))),
    string: (pattern) => sequence(tag(quote), valueBefore(pattern, quote)),
  }
}
