import type {Expression} from '../grammar.js'
import type {Scanner} from './scanner.js'

/** How a notation of grammars writes what an expression is made from. */
export interface Notation {
  /** Reads a terminal or the name of a rule; undefined if there is none. */
  readonly atom: (scanner: Scanner) => Expression | undefined
  /** Reads bounds of a repetition after an expression, apart from `*`, `+` and `?`. */
  readonly bounds: (scanner: Scanner) => {min: number; max: number} | undefined
  /** True if the line break before this place does not end a rule. */
  readonly continues: (scanner: Scanner) => boolean
  /** Brackets around an optional expression. */
  readonly optional?: readonly [string, string]
}

const maxDepth = 200
/** Signs of repetition after one expression. */
const maxSigns = 8
const many = Number.POSITIVE_INFINITY
const postfix: Readonly<Record<string, readonly [number, number]>> = {'*': [0, many], '+': [1, many], '?': [0, 1]}

/** Reads alternatives up to the end of the rule or group. */
export function readAlternatives(scanner: Scanner, notation: Notation, depth = 0): Expression {
  if (depth > maxDepth) throw scanner.fault(`groups are nested more than ${maxDepth} times`)
  const options = [readSequence(scanner, notation, depth)]
  while (skipSpace(scanner, notation, depth) && scanner.take('|')) {
    scanner.space(true)
    options.push(readSequence(scanner, notation, depth))
  }
  return options.length === 1 ? options[0]! : {kind: 'either', options}
}

/** Skips blanks, and line breaks within a group or where the notation continues a rule. Always true. */
function skipSpace(scanner: Scanner, notation: Notation, depth: number): true {
  scanner.space(depth > 0)
  const before = scanner.at
  scanner.space(true)
  if (depth === 0 && scanner.at !== before && !notation.continues(scanner)) scanner.at = before
  return true
}

function readSequence(scanner: Scanner, notation: Notation, depth: number): Expression {
  const parts: Expression[] = []
  for (;;) {
    skipSpace(scanner, notation, depth)
    const part = readGroup(scanner, notation, depth) ?? notation.atom(scanner)
    if (part === undefined) return parts.length === 1 ? parts[0]! : {kind: 'sequence', parts}
    parts.push(readRepetition(scanner, notation, part))
  }
}

function readGroup(scanner: Scanner, notation: Notation, depth: number): Expression | undefined {
  const [open, close] = notation.optional ?? []
  const isOptional = open !== undefined && scanner.take(open)
  if (!isOptional && !scanner.take('(')) return undefined
  scanner.space(true)
  const group = readAlternatives(scanner, notation, depth + 1)
  scanner.expect(isOptional ? close! : ')')
  return isOptional ? {kind: 'repeat', part: group, min: 0, max: 1} : group
}

function readRepetition(scanner: Scanner, notation: Notation, part: Expression): Expression {
  let repeated = part
  for (let signs = 0; ; signs++) {
    const sign = scanner.match(/[*+?]/y)
    const start = scanner.at
    const bounds = sign === undefined ? notation.bounds(scanner) : undefined
    if (sign === undefined && bounds === undefined) return repeated
    const [min, max] = sign === undefined ? [bounds!.min, bounds!.max] : postfix[sign]!
    if (signs === maxSigns) throw scanner.fault(`more than ${maxSigns} repetitions follow each other`, start)
    if (min > max) throw scanner.fault(`a repetition has the bounds ${min} and ${max}`, start)
    repeated = {kind: 'repeat', part: repeated, min, max}
  }
}

/** Reads `{m}`, `{m,}`, `{,n}` or `{m,n}`. */
export function bracedBounds(scanner: Scanner): {min: number; max: number} | undefined {
  const start = scanner.at
  if (!scanner.take('{')) return undefined
  // Bounded, because the expression backtracks.
  const text = scanner.match(/\s{0,8}\d{0,9}\s{0,8},?\s{0,8}\d{0,9}\s{0,8}(?=\})/y)
  if (text === undefined || !/\d/.test(text)) throw scanner.fault('a repetition has no bounds', start)
  scanner.expect('}')
  const [min = '', max] = text.split(',').map((each) => each.trim())
  if (max === undefined) return {min: Number(min), max: Number(min)}
  return {min: Number(min || 0), max: max === '' ? many : Number(max)}
}
