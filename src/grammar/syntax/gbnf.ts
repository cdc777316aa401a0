import type {Expression, Grammar} from '../grammar.js'
import {anyCharacter, characters, complementRanges, text} from '../pattern/build.js'
import {allSteps, type Steps} from '../steps.js'
import {bracedBounds, type Notation, readAlternatives} from './expression.js'
import {replaced} from './parts.js'
import {Scanner} from './scanner.js'

const name = /[a-zA-Z0-9-]+/y
const hexLengths: Readonly<Record<string, number>> = {x: 2, u: 4, U: 8}
const escapes: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'}

/**
 * Reads a grammar in GBNF, the format of llama.cpp. It starts with the rule `root`; left recursion is allowed.
 * Throws `grammar_invalid` with line and column.
 */
export const gbnfGrammar = (source: string): Grammar => allSteps(gbnfGrammarInSteps(source))

/** `gbnfGrammar` in steps: one for each rule. */
export function* gbnfGrammarInSteps(source: string): Steps<Grammar> {
  const scanner = new Scanner(source, /#[^\r\n]*/y)
  const rules = new Map<string, Expression>()
  const references: {name: string; at: number}[] = []
  const notation: Notation = {
    atom: () => {
      if (scanner.take('"')) return {kind: 'lexeme', pattern: text(readLiteral(scanner))}
      if (scanner.take('[')) return {kind: 'lexeme', pattern: readClass(scanner)}
      if (scanner.take('.')) return {kind: 'lexeme', pattern: anyCharacter}
      if (/[<!]/.test(scanner.source[scanner.at] ?? '')) throw scanner.fault('tokens of a vocabulary are not supported')
      const at = scanner.at
      const rule = scanner.match(name)
      if (rule === undefined) return undefined
      references.push({name: rule, at})
      return {kind: 'rule', name: rule}
    },
    bounds: bracedBounds,
    continues: ({source: all, at}) => all[at] === '|',
  }
  scanner.space(true)
  while (!scanner.isAtEnd) {
    const at = scanner.at
    const rule = scanner.match(name)
    if (rule === undefined) throw scanner.fault('the name of a rule is missing')
    scanner.space(false)
    scanner.expect('::=')
    scanner.space(true)
    if (rules.has(rule)) throw scanner.fault(`the rule ${rule} is defined twice`, at)
    rules.set(rule, readAlternatives(scanner, notation))
    yield
    scanner.space(false)
    if (!scanner.isAtEnd && scanner.match(/[\r\n]/y) === undefined) throw scanner.fault('the rule does not end here')
    scanner.space(true)
  }
  const missing = references.find((reference) => !rules.has(reference.name))
  if (missing !== undefined) throw scanner.fault(`the rule ${missing.name} is not defined`, missing.at)
  if (!rules.has('root')) throw scanner.fault('the rule root is not defined', 0)
  const joined = new Map<string, Expression>()
  for (const [rule, expression] of rules) {
    joined.set(rule, replaced(expression, unchanged))
    yield
  }
  return {start: 'root', rules: joined}
}

const unchanged = {
  rule: (rule: string): Expression => ({kind: 'rule', name: rule}),
  lexeme: (of: Expression): Expression => of,
}

function readLiteral(scanner: Scanner): string {
  let value = ''
  while (!scanner.take('"')) value += readCharacter(scanner)
  return value
}

function readClass(scanner: Scanner) {
  const isNegated = scanner.take('^')
  const ranges: [number, number][] = []
  while (!scanner.take(']')) {
    const at = scanner.at
    const first = readCharacter(scanner).codePointAt(0)!
    const isRange = scanner.source[scanner.at] === '-' && scanner.source[scanner.at + 1] !== ']' && scanner.take('-')
    const last = isRange ? readCharacter(scanner).codePointAt(0)! : first
    if (last < first) throw scanner.fault('the range of characters is reversed', at)
    ranges.push([first, last])
  }
  return characters(isNegated ? complementRanges(ranges) : ranges)
}

/** A character of a literal or class, which may be an escape. */
function readCharacter(scanner: Scanner): string {
  const start = scanner.at
  const character = scanner.character()
  if (character !== '\\') return character
  const kind = scanner.character()
  const length = hexLengths[kind]
  if (length === undefined) return escapes[kind] ?? kind
  const hex = scanner.source.slice(scanner.at, scanner.at + length)
  const point = /^[0-9a-fA-F]+$/.test(hex) && hex.length === length ? Number.parseInt(hex, 16) : Number.NaN
  if (!(point <= 0x10_ff_ff) || (point >= 0xd8_00 && point <= 0xdf_ff)) {
    throw scanner.fault(`\\${kind}${hex} is not a character`, start)
  }
  scanner.at += length
  return String.fromCodePoint(point)
}
