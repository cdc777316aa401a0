import {type AST, RegExpParser} from '@eslint-community/regexpp'
import {SvcError} from '../../errors/index.js'
import type {Pattern} from '../grammar.js'
import {
  anyCharacter,
  anyText,
  both,
  characters,
  complementRanges,
  either,
  emptyText,
  matchesEmpty,
  noText,
  not,
  type Ranges,
  repeat,
  sequence,
  text,
} from './build.js'

const parser = new RegExpParser({ecmaVersion: 2025})
const lineTerminators: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x20_28, 0x20_29],
]
const digits: Ranges = [[0x30, 0x39]]
const word: Ranges = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]
const propertyRanges = new Map<string, Ranges>()

interface EcmaOptions {
  /** The dot matches line breaks, too. */
  readonly dotAll?: boolean
}

/**
 * The texts in which a regular expression of ECMA 262 finds a match; the text is `any text` around it unless anchors say
 * otherwise. Lookahead is enforced by intersection. Throws `pattern_unsupported` for what is not regular or looks behind.
 *
 * The flag is `u`, as JSON Schema recommends; sources that are only valid without it, such as `\-`, are read without it.
 */
export function ecmaPattern(source: string): Pattern {
  const {alternatives} = parse(source)
  const search = (atStart: boolean): Pattern =>
    either(...alternatives.map(({elements}) => follow(elements, {rest: anyText, atStart, source, dotAll: false})))
  const atStart = search(true)
  if (!alternatives.some(({elements}) => elements.some(hasStart))) return sequenceOf(anyText, atStart)
  return either(atStart, sequenceOf(repeat(anyCharacter, 1), search(false)))
}

/** The texts that the expression matches as a whole, as in the option `pattern` of an HTML form. */
export function wholePattern(source: string, {dotAll = false}: EcmaOptions = {}): Pattern {
  const context = {rest: emptyText, atStart: true, source, dotAll}
  return either(...parse(source).alternatives.map(({elements}) => follow(elements, context)))
}

function parse(source: string): AST.Pattern {
  try {
    return parser.parsePattern(source, 0, source.length, {unicode: true})
  } catch {
    try {
      return parser.parsePattern(source, 0, source.length, {unicode: false})
    } catch (cause) {
      const {message, index} = cause as {message: string; index: number}
      const reason = message.replace(/^.*\/: /, '')
      throw new SvcError('pattern_unsupported', {pattern: source, reason, column: index + 1}, {cause})
    }
  }
}

interface Context {
  /** What follows up to the end of the text. */
  readonly rest: Pattern
  /** True if nothing of the text precedes. */
  readonly atStart: boolean
  readonly source: string
  readonly dotAll: boolean
}

const sequenceOf = (first: Pattern, rest: Pattern): Pattern =>
  first === anyText && rest === anyText ? anyText : sequence(first, rest)

const isAssertion = (node: AST.Element): boolean =>
  node.type === 'Assertion' ||
  ((node.type === 'Group' || node.type === 'CapturingGroup') &&
    node.alternatives.some(({elements}) => elements.some(isAssertion))) ||
  (node.type === 'Quantifier' && isAssertion(node.element))

const hasStart = (node: AST.Element): boolean =>
  (node.type === 'Assertion' && node.kind === 'start') ||
  ((node.type === 'Group' || node.type === 'CapturingGroup') &&
    node.alternatives.some(({elements}) => elements.some(hasStart))) ||
  (node.type === 'Quantifier' && hasStart(node.element)) ||
  (node.type === 'Assertion' &&
    node.kind === 'lookahead' &&
    node.alternatives.some(({elements}) => elements.some(hasStart)))

/** The elements, then the rest: everything up to the end of the text, so that assertions see all that follows. */
function follow(elements: readonly AST.Element[], context: Context): Pattern {
  const [first, ...others] = elements
  if (first === undefined) return context.rest
  if (!isAssertion(first)) {
    const pattern = elementPattern(first, context)
    if (!others.some(hasStart)) return sequenceOf(pattern, follow(others, context))
    const consumed = sequence(both(pattern, not(emptyText)), follow(others, {...context, atStart: false}))
    return matchesEmpty(pattern) ? either(follow(others, context), consumed) : consumed
  }
  if (first.type === 'Quantifier') return optionalAssertion(first, others, context)
  if (first.type === 'Group' || first.type === 'CapturingGroup') {
    return either(...first.alternatives.map((each) => follow([...each.elements, ...others], context)))
  }
  return assertion(first as AST.Assertion, follow(others, context), context)
}

/** `(^|,)?` has two cases; a longer repetition of an assertion is refused. */
function optionalAssertion(
  {element, min, max, start}: AST.Quantifier,
  others: readonly AST.Element[],
  context: Context,
) {
  if (max > 1) throw refused('an anchor or lookahead inside a repetition', context, start)
  const present = max === 0 ? noText : follow([element, ...others], context)
  return min === 0 ? either(present, follow(others, context)) : present
}

function assertion(node: AST.Assertion, rest: Pattern, context: Context): Pattern {
  switch (node.kind) {
    case 'start':
      return context.atStart ? rest : noText
    case 'end':
      return matchesEmpty(rest) ? emptyText : noText
    case 'lookahead': {
      const ahead = either(...node.alternatives.map(({elements}) => follow(elements, {...context, rest: anyText})))
      return both(rest, node.negate ? not(ahead) : ahead)
    }
    default:
      throw refused(node.kind === 'word' ? 'a word boundary' : 'lookbehind', context, node.start)
  }
}

function elementPattern(node: AST.Element, context: Context): Pattern {
  switch (node.type) {
    case 'Character':
      if (node.value >= 0xd8_00 && node.value <= 0xdf_ff) throw refused('half of a surrogate pair', context, node.start)
      return text(String.fromCodePoint(node.value))
    case 'CharacterSet':
      return characters(setRanges(node, context))
    case 'CharacterClass':
      return characters(classRanges(node, context))
    case 'Group':
      if (node.modifiers !== null) throw refused('modifiers', context, node.start)
      return alternativesPattern(node.alternatives, context)
    case 'CapturingGroup':
      return alternativesPattern(node.alternatives, context)
    case 'Quantifier':
      return repeat(elementPattern(node.element, context), node.min, node.max)
    case 'Backreference':
      throw refused('a back reference', context, node.start)
    default:
      throw refused('this construct', context, node.start)
  }
}

const alternativesPattern = (alternatives: readonly AST.Alternative[], context: Context): Pattern =>
  either(...alternatives.map(({elements}) => sequence(...elements.map((element) => elementPattern(element, context)))))

function classRanges({elements, negate}: AST.CharacterClass, context: Context): Ranges {
  const ranges = (elements as readonly AST.ClassRangesCharacterClassElement[]).flatMap((element): Ranges => {
    if (element.type === 'Character') return [[element.value, element.value]]
    if (element.type === 'CharacterClassRange') return [[element.min.value, element.max.value]]
    return setRanges(element, context)
  })
  return negate ? complementRanges(ranges) : ranges
}

function setRanges(node: AST.CharacterSet, context: Context): Ranges {
  if (node.kind === 'any') return complementRanges(context.dotAll ? [] : lineTerminators)
  const ranges =
    node.kind === 'digit'
      ? digits
      : node.kind === 'word'
        ? word
        : unicodeRanges(node.raw.replace(/^\\[PS]/, (m) => m.toLowerCase()))
  if (ranges === undefined) throw refused('this construct', context, node.start)
  return node.negate ? complementRanges(ranges) : ranges
}

/** The characters of a class such as `\s` or `\p{Lu}`, found by testing each. */
function unicodeRanges(name: string): Ranges {
  const known = propertyRanges.get(name)
  if (known !== undefined) return known
  const test = new RegExp(`^${name}$`, 'u')
  const ranges: [number, number][] = []
  for (const [from, to] of complementRanges([])) {
    for (let point = from; point <= to; point++) {
      if (!test.test(String.fromCodePoint(point))) continue
      const last = ranges.at(-1)
      if (last !== undefined && last[1] === point - 1) last[1] = point
      else ranges.push([point, point])
    }
  }
  propertyRanges.set(name, ranges)
  return ranges
}

const refused = (reason: string, {source: pattern}: Context, index: number): SvcError =>
  new SvcError('pattern_unsupported', {pattern, reason: `it has ${reason}`, column: index + 1})
