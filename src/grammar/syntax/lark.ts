import type {Expression, Grammar, Pattern} from '../grammar.js'
import {bracedBounds, type Notation, readAlternatives} from './expression.js'
import {commonTerminal, readTerminal} from './lark-terminals.js'
import {replaced} from './parts.js'
import {Scanner} from './scanner.js'

const name = /_?[a-zA-Z][a-zA-Z0-9_]*/y
const ignored = ' ignored'

/** Names of terminals are in upper case. */
const isTerminal = (rule: string): boolean => rule === rule.toUpperCase()

interface Definitions {
  readonly rules: Map<string, Expression>
  readonly ignored: Expression[]
  readonly references: {name: string; at: number}[]
}

/**
 * Reads a grammar in the format of Lark, as far as llguidance and vLLM use it: rules, terminals, `%ignore`, `%import common.X`,
 * regular expressions, ranges and repetitions. It starts with the rule `start`. Shapes of trees (`?`, `!`, `->`) and
 * priorities are read and ignored. Terminals match exactly where the grammar has them: there is no preference for longer ones.
 * Throws `grammar_invalid` with line and column.
 */
export function larkGrammar(source: string): Grammar {
  const scanner = new Scanner(source, /(?:\/\/|#)[^\r\n]*/y)
  const definitions: Definitions = {rules: new Map(), ignored: [], references: []}
  const notation = notationOf(definitions)
  for (scanner.space(true); !scanner.isAtEnd; scanner.space(true)) {
    if (scanner.take('%')) readDirective(scanner, definitions, notation)
    else readRule(scanner, definitions, notation)
    scanner.space(false)
    if (!scanner.isAtEnd && scanner.match(/[\r\n]/y) === undefined) throw scanner.fault('the rule does not end here')
  }
  const missing = definitions.references.find((reference) => !definitions.rules.has(reference.name))
  if (missing !== undefined) throw scanner.fault(`${missing.name} is not defined`, missing.at)
  if (!definitions.rules.has('start')) throw scanner.fault('the rule start is not defined', 0)
  return resolve(scanner, definitions)
}

function notationOf({references}: Definitions): Notation {
  return {
    atom: (scanner) => {
      const terminal = readTerminal(scanner)
      if (terminal !== undefined) return terminal
      const at = scanner.at
      // The next line may define a rule.
      if (scanner.match(/_?[a-zA-Z][a-zA-Z0-9_]*(?:\.-?\d+)?\s*:/y) !== undefined) {
        scanner.at = at
        return undefined
      }
      const rule = scanner.match(name)
      if (rule === undefined) return undefined
      if (scanner.source[scanner.at] === '{' && !/^\{\s*[\d,]/.test(scanner.source.slice(scanner.at))) {
        throw scanner.fault('templates are not supported')
      }
      references.push({name: rule, at})
      return {kind: 'rule', name: rule}
    },
    bounds: (scanner) => {
      const at = scanner.at
      const text = scanner.match(/[^\S\r\n]*~\s*\d+(?:\s*\.\.\s*\d+)?/y)
      if (text === undefined) return scanner.source[at] === '{' ? bracedBounds(scanner) : undefined
      const [min, max = min] = [...text.matchAll(/\d+/g)].map(Number)
      return {min: min!, max: max!}
    },
    continues: (scanner) => scanner.source[scanner.at] === '|',
    optional: ['[', ']'],
  }
}

function readRule(scanner: Scanner, {rules}: Definitions, notation: Notation): void {
  scanner.match(/[?!]*/y)
  const at = scanner.at
  const rule = scanner.match(name)
  if (rule === undefined) throw scanner.fault('the name of a rule is missing')
  if (rules.has(rule)) throw scanner.fault(`${rule} is defined twice`, at)
  scanner.match(/\.-?\d+/y)
  if (scanner.take('{')) throw scanner.fault('templates are not supported', at)
  scanner.space(false)
  scanner.expect(':')
  rules.set(rule, readBody(scanner, notation))
}

/** Alternatives with names for trees (`-> name`), which are ignored. */
function readBody(scanner: Scanner, notation: Notation): Expression {
  const options = [readAlternatives(scanner, notation)]
  for (;;) {
    scanner.space(false)
    if (!scanner.take('->')) return options.length === 1 ? options[0]! : {kind: 'either', options}
    scanner.space(false)
    if (scanner.match(name) === undefined) throw scanner.fault('a name after -> is missing')
    const end = scanner.at
    scanner.space(true)
    if (scanner.take('|')) options.push(readAlternatives(scanner, notation))
    else scanner.at = end
  }
}

function readDirective(scanner: Scanner, definitions: Definitions, notation: Notation): void {
  const at = scanner.at - 1
  const directive = scanner.match(/[a-z]+/y) ?? ''
  scanner.space(false)
  if (directive === 'ignore') {
    definitions.ignored.push(readAlternatives(scanner, notation))
    return
  }
  const imported = directive === 'import' ? scanner.match(/common\.[A-Z_]+/y)?.slice('common.'.length) : undefined
  if (imported === undefined) throw scanner.fault(`%${directive} is not supported here`, at)
  const pattern = commonTerminal(imported)
  if (pattern === undefined) throw scanner.fault(`common.${imported} is not known`, at)
  const alias = scanner.match(/[^\S\r\n]*->[^\S\r\n]*_?[A-Z][A-Z0-9_]*/y)
  definitions.rules.set(alias === undefined ? imported : alias.replace(/.*->\s*/, ''), {kind: 'lexeme', pattern})
}

const unchanged = (lexeme: Expression): Expression => lexeme

/** Replaces terminals by their patterns, and allows ignored terminals around each terminal of a rule. */
function resolve(scanner: Scanner, {rules, ignored: skipped, references}: Definitions): Grammar {
  const terminals = new Map<string, Pattern>()
  const open = new Set<string>()
  const terminal = (rule: string): Pattern => {
    const known = terminals.get(rule)
    if (known !== undefined) return known
    const at = references.find((reference) => reference.name === rule)?.at
    if (open.has(rule)) throw scanner.fault(`the terminal ${rule} refers to itself`, at)
    open.add(rule)
    const expression = replaced(rules.get(rule)!, {rule: asTerminal, lexeme: unchanged})
    open.delete(rule)
    if (expression.kind !== 'lexeme') throw scanner.fault(`the terminal ${rule} uses a rule`, at)
    terminals.set(rule, expression.pattern)
    return expression.pattern
  }
  const asTerminal = (rule: string): Expression =>
    isTerminal(rule) ? {kind: 'lexeme', pattern: terminal(rule)} : {kind: 'rule', name: rule}
  const skip: Expression = {kind: 'rule', name: ignored}
  const spaced = (lexeme: Expression): Expression =>
    skipped.length === 0 ? lexeme : {kind: 'sequence', parts: [lexeme, skip]}
  const resolved = new Map<string, Expression>()
  for (const [rule, expression] of rules) {
    if (!isTerminal(rule)) resolved.set(rule, replaced(expression, {rule: asTerminal, lexeme: spaced}))
    else terminal(rule)
  }
  if (skipped.length === 0) return {start: 'start', rules: resolved}
  const between = skipped.map((each) => replaced(each, {rule: asTerminal, lexeme: unchanged}))
  resolved.set(ignored, {
    kind: 'repeat',
    part: {kind: 'either', options: between},
    min: 0,
    max: Number.POSITIVE_INFINITY,
  })
  resolved.set(' start', {kind: 'sequence', parts: [skip, {kind: 'rule', name: 'start'}]})
  return {start: ' start', rules: resolved}
}
