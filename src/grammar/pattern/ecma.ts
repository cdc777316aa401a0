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
/** Characters of an expression. */
const maxLength = 10_000
/** Elements that follow anchors and lookaheads, counted once for each alternative before them. */
const maxFollowing = 2000

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
export const ecmaPattern = (source: string): Pattern =>
  withinStack(source, () => {
    const {alternatives} = parse(source)
    const work = {steps: 0}
    const search = (atStart: boolean): Pattern =>
      either(
        ...alternatives.map(({elements}) => follow(elements, {rest: anyText, atStart, source, dotAll: false, work})),
      )
    const atStart = search(true)
    if (!alternatives.some(({elements}) => elements.some(hasStart))) return sequenceOf(anyText, atStart)
    return either(atStart, sequenceOf(repeat(anyCharacter, 1), search(false)))
  })

/** The texts that the expression matches as a whole, as in the option `pattern` of an HTML form. */
export const wholePattern = (source: string, {dotAll = false}: EcmaOptions = {}): Pattern =>
  withinStack(source, () => {
    const context = {rest: emptyText, atStart: true, source, dotAll, work: {steps: 0}}
    return either(...parse(source).alternatives.map(({elements}) => follow(elements, context)))
  })

/** Refuses an expression with more nested groups than the stack holds. */
function withinStack(source: string, read: () => Pattern): Pattern {
  if (source.length > maxLength)
    throw new SvcError('grammar_limit', {what: 'characters of a regular expression', limit: maxLength})
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SvcError('grammar_limit', {what: 'levels of nested groups', limit: maxLength / 10}, {cause: error})
  }
}

/** Without the flag `u`, these have another meaning. */
const needsUnicode = /\\[pP]\{|\\u\{|[\u{10000}-\u{10ffff}]/u

function parse(source: string): AST.Pattern {
  try {
    return parser.parsePattern(source, 0, source.length, {unicode: true})
  } catch {
    try {
      return parser.parsePattern(source, 0, source.length, {unicode: needsUnicode.test(source)})
    } catch (cause) {
      if (cause instanceof RangeError) throw cause
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
  /** Shared by all parts of an expression. */
  readonly work: {steps: number}
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
  if (elements.length === 0) return context.rest
  if (++context.work.steps > maxFollowing) throw refused('too many anchors and lookaheads', context, 0)
  const found = elements.findIndex(isAssertion)
  const end = found === -1 ? elements.length : found
  if (end > 0) return followRun(elements.slice(0, end), elements.slice(end), context)
  const [first, ...others] = elements as [AST.Element, ...AST.Element[]]
  if (first.type === 'Quantifier') return optionalAssertion(first, others, context)
  if (first.type === 'Group' || first.type === 'CapturingGroup') {
    checkModifiers(first, context)
    return either(...first.alternatives.map((each) => follow([...each.elements, ...others], context)))
  }
  return assertion(first as AST.Assertion, follow(others, context), context)
}

/** Elements without assertions, then the others. */
function followRun(run: readonly AST.Element[], others: readonly AST.Element[], context: Context): Pattern {
  const patterns = run.map((element) => elementPattern(element, context))
  if (!others.some(hasStart)) {
    const rest = follow(others, context)
    while (rest === anyText && patterns.at(-1) === anyText) patterns.pop()
    return patterns.length === 0 ? rest : sequence(...patterns, rest)
  }
  const pattern = sequence(...patterns)
  const consumed = sequence(both(pattern, not(emptyText)), follow(others, {...context, atStart: false}))
  return matchesEmpty(pattern) ? either(follow(others, context), consumed) : consumed
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

function checkModifiers(node: AST.Group | AST.CapturingGroup, context: Context): void {
  if (node.type === 'Group' && node.modifiers !== null) throw refused('modifiers', context, node.start)
}

function elementPattern(node: AST.Element, context: Context): Pattern {
  switch (node.type) {
    case 'Character':
      if (isSurrogate(node.value)) throw refused('half of a surrogate pair', context, node.start)
      return text(String.fromCodePoint(node.value))
    case 'CharacterSet':
      return characters(setRanges(node, context))
    case 'CharacterClass':
      return characters(classRanges(node, context))
    case 'Group':
      checkModifiers(node, context)
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

const isSurrogate = (point: number): boolean => point >= 0xd8_00 && point <= 0xdf_ff

const alternativesPattern = (alternatives: readonly AST.Alternative[], context: Context): Pattern =>
  either(...alternatives.map(({elements}) => sequence(...elements.map((element) => elementPattern(element, context)))))

function classRanges({elements, negate}: AST.CharacterClass, context: Context): Ranges {
  const ranges = (elements as readonly AST.ClassRangesCharacterClassElement[]).flatMap((element): Ranges => {
    if (element.type === 'Character') {
      if (isSurrogate(element.value)) throw refused('half of a surrogate pair', context, element.start)
      return [[element.value, element.value]]
    }
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

let allCharacters: readonly string[] | undefined

/** All characters in their order: those before the surrogates, and those after. */
function everyCharacter(): readonly string[] {
  allCharacters ??= complementRanges([]).map(([from, to]) => {
    const parts: string[] = []
    for (let point = from; point <= to; point++) parts.push(String.fromCodePoint(point))
    return parts.join('')
  })
  return allCharacters
}

/** The characters of a class such as `\s` or `\p{Lu}`, found in a text of all characters. */
function unicodeRanges(name: string): Ranges {
  const known = propertyRanges.get(name)
  if (known !== undefined) return known
  const runs = new RegExp(`${name}+`, 'gu')
  const ranges: [number, number][] = []
  for (const characters of everyCharacter())
    for (const [run] of characters.matchAll(runs)) {
      const last = run.codePointAt(run.length - 2)!
      ranges.push([run.codePointAt(0)!, last > 0xff_ff ? last : run.charCodeAt(run.length - 1)])
    }
  propertyRanges.set(name, ranges)
  return ranges
}

const refused = (reason: string, {source: pattern}: Context, index: number): SvcError =>
  new SvcError('pattern_unsupported', {pattern, reason: `it has ${reason}`, column: index + 1})
