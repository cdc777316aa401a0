import {SvcError} from '../../errors/index.js'
import type {Expression, Grammar, Pattern} from '../grammar.js'
import {byteClasses} from '../lexer/byte-set.js'
import {Continuations} from '../lexer/continuations.js'
import {patternReader} from '../lexer/from-pattern.js'
import {Lexer} from '../lexer/lexer.js'
import {type Regex, Regexes} from '../lexer/regex.js'
import {limits} from '../limits.js'
import {bytesOfMark} from '../marks.js'
import type {Steps} from '../steps.js'
import {type Residual, Residuals} from './residual.js'

/** A grammar in the form that the parser uses. Rules that match nothing are removed. */
export interface Productions {
  readonly lexer: Lexer
  readonly residuals: Residuals
  /** Names of the nested grammars. */
  readonly nested: readonly string[]
  /** The expression of each rule. */
  readonly rules: readonly Residual[]
  readonly start: number
}

/** The number among lexemes of a nested grammar, by its place in the list. Those of the lexer are not negative. */
export const lexemeOfNested = (place: number): number => -1 - place

/** The place of a nested grammar, by its number among lexemes. The same function in both directions. */
export const placeOfNested = lexemeOfNested

/** A pattern of a grammar, as the lexer has it. */
interface Lexeme {
  readonly regex: Regex
  /** Whether it matches a text that is not empty. */
  readonly continues: boolean
}

/**
 * Converts a grammar in steps of a few milliseconds each.
 * @throws grammar_limit; grammar_unsatisfiable if no text matches
 */
export function* productionsOf({start, rules}: Grammar): Steps<Productions> {
  yield* refuseTooLarge(rules.values())
  const lexemes = yield* readLexemes(rules.values())
  const names = [...rules.keys()]
  const numbers = new Map(names.map((name, i) => [name, i]))
  const numberOf = (name: string) => {
    const number = numbers.get(name)
    if (number === undefined) throw new Error(`The grammar has no rule "${name}".`)
    return number
  }
  const facts = (decide: Decision) => fixpoint(rules, numberOf, decide)
  const matches = yield* facts(
    (terminal) => terminal.kind === 'nested' || lexemes.of(terminal).regex !== lexemes.regexes.nothing,
  )
  if (matches[numberOf(start)] !== true) throw new SvcError('grammar_unsatisfiable', {})
  const isNullable = yield* facts((terminal) => terminal.kind !== 'nested' && lexemes.of(terminal).regex.nullable)
  const residuals = new Residuals((rule) => isNullable[rule] === true)
  const numbered = new Map<Regex, number>()
  const nested = new Map<string, number>()
  const lexemeOf = ({regex, continues}: Lexeme): Residual => {
    const own = continues ? residuals.lexeme(numbered.get(regex) ?? numbered.size) : residuals.nothing
    if (continues && !numbered.has(regex)) numbered.set(regex, numbered.size)
    return regex.nullable ? residuals.either([residuals.empty, own]) : own
  }
  const convert = (expression: Expression): Residual => {
    switch (expression.kind) {
      case 'lexeme':
      case 'special':
        return lexemeOf(lexemes.of(expression))
      case 'nested': {
        const place = nested.get(expression.name) ?? nested.size
        nested.set(expression.name, place)
        return residuals.lexeme(lexemeOfNested(place))
      }
      case 'rule': {
        const number = numberOf(expression.name)
        return matches[number] === true ? residuals.rule(number) : residuals.nothing
      }
      case 'sequence':
        return expression.parts.reduceRight((rest, part) => residuals.sequence(convert(part), rest), residuals.empty)
      case 'either':
        return residuals.either(expression.options.map(convert))
      case 'repeat':
        return residuals.repeat(convert(expression.part), expression.min, expression.max)
    }
  }
  const converted: Residual[] = []
  for (const expression of rules.values()) {
    converted.push(convert(expression))
    yield
  }
  // Most parts of the patterns are not needed again.
  lexemes.regexes.forget()
  const lexer = new Lexer(lexemes.regexes, [...numbered.keys()], lexemes.classes)
  return {lexer, residuals, nested: [...nested.keys()], rules: converted, start: numberOf(start)}
}

/** Reads all patterns of a grammar, and the classes of bytes that they distinguish. */
function* readLexemes(expressions: Iterable<Expression>) {
  const regexes = new Regexes()
  const regexOf = patternReader(regexes)
  const read = new Map<Pattern | number, Regex>()
  const open = [...expressions]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isTerminal(next)) for (const part of partsOf(next)) open.push(part)
    else if (!read.has(keyOf(next))) {
      // The reader keeps the options, so that a long list of choices is not read at once.
      if (next.kind === 'lexeme' && next.pattern.kind === 'either')
        for (const option of next.pattern.options) {
          regexOf(option)
          yield
        }
      read.set(keyOf(next), next.kind === 'lexeme' ? regexOf(next.pattern) : regexes.text(latin1(next.mark)))
      yield
    }
  }
  const {sets, texts} = regexes.alphabet()
  const classes = byteClasses(sets, texts)
  yield
  const continuations = new Continuations(regexes, classes.bytes)
  const known = new Map<Regex, Lexeme>()
  for (const regex of new Set(read.values())) {
    const isAlive = continuations.isAlive(regex)
    const kept = isAlive ? regex : regexes.nothing
    known.set(regex, {regex: kept, continues: isAlive && continuations.canContinue(regex)})
    yield
  }
  return {regexes, classes, of: (terminal: Terminal): Lexeme => known.get(read.get(keyOf(terminal))!)!}
}

const latin1 = (mark: number): string => Buffer.from(bytesOfMark(mark)).toString('latin1')

type Terminal = Expression & {readonly kind: 'lexeme' | 'special'}

const isTerminal = (expression: Expression): expression is Terminal =>
  expression.kind === 'lexeme' || expression.kind === 'special'

const keyOf = (terminal: Terminal): Pattern | number => (terminal.kind === 'lexeme' ? terminal.pattern : terminal.mark)

const partsOf = (expression: Expression): readonly Expression[] => {
  if (expression.kind === 'sequence') return expression.parts
  if (expression.kind === 'either') return expression.options
  return expression.kind === 'repeat' ? [expression.part] : []
}

function partsOfPattern(pattern: Pattern): readonly Pattern[] {
  if (pattern.kind === 'sequence' || pattern.kind === 'both') return pattern.parts
  if (pattern.kind === 'either') return pattern.options
  return pattern.kind === 'repeat' || pattern.kind === 'not' ? [pattern.part] : []
}

type Decision = (terminal: Terminal | (Expression & {readonly kind: 'nested'})) => boolean

/** A property that a rule has if all parts of one of its alternatives have it. */
function* fixpoint(
  rules: ReadonlyMap<string, Expression>,
  numberOf: (name: string) => number,
  ofTerminal: Decision,
): Steps<readonly boolean[]> {
  const has: boolean[] = []
  const holds = (expression: Expression): boolean => {
    switch (expression.kind) {
      case 'lexeme':
      case 'special':
      case 'nested':
        return ofTerminal(expression)
      case 'rule':
        return has[numberOf(expression.name)] === true
      case 'sequence':
        return expression.parts.every(holds)
      case 'either':
        return expression.options.some(holds)
      case 'repeat':
        return expression.min <= expression.max && (expression.min === 0 || holds(expression.part))
    }
  }
  // Rules are usually defined before those they use, so that the last is decided first.
  const all = [...rules].map(([name, expression]) => ({number: numberOf(name), expression})).reverse()
  for (let open = all, before = -1; open.length !== before; ) {
    before = open.length
    const undecided: typeof open = []
    for (const each of open) {
      has[each.number] = holds(each.expression)
      if (has[each.number] === false) undecided.push(each)
      yield
    }
    // Whichever order the rules have, one of the directions decides most of them.
    open = undecided.reverse()
  }
  return has
}

/** Objects that occur several times count once: they are converted once. @throws grammar_limit */
function* refuseTooLarge(expressions: Iterable<Expression>): Steps<void> {
  let parts = 0
  const checkDepth = (depth: number) => {
    if (depth > limits.depth) throw new SvcError('grammar_limit', {what: 'nested parts', limit: limits.depth})
  }
  const measured = new Map<Pattern, {size: number; height: number}>()
  const count = (depth: number) => {
    if (++parts > limits.parts) throw new SvcError('grammar_limit', {what: 'parts', limit: limits.parts})
    checkDepth(depth)
  }
  const measure = (at: Pattern, depth: number): {size: number; height: number} => {
    const known = measured.get(at)
    if (known !== undefined) {
      checkDepth(depth + known.height)
      return known
    }
    count(depth)
    let [size, height] = [1, 0]
    for (const part of partsOfPattern(at)) {
      const own = measure(part, depth + 1)
      size += own.size
      height = Math.max(height, own.height + 1)
    }
    if (size > limits.patternParts)
      throw new SvcError('grammar_limit', {what: 'parts of a pattern', limit: limits.patternParts})
    const measurements = {size, height}
    measured.set(at, measurements)
    return measurements
  }
  const visit = (at: Expression, depth: number): void => {
    count(depth)
    if (at.kind === 'lexeme') measure(at.pattern, depth + 1)
    else if (at.kind !== 'rule') for (const part of partsOf(at)) visit(part, depth + 1)
  }
  for (const expression of expressions) {
    visit(expression, 0)
    yield
  }
}
