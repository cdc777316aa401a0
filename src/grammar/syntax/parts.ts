import type {Expression, Pattern} from '../grammar.js'
import * as pattern from '../pattern/build.js'

const lexeme = (of: Pattern): Expression => ({kind: 'lexeme', pattern: of})

/** The pattern of an expression without rules; undefined if it has rules. */
const patternOf = (expression: Expression): Pattern | undefined =>
  expression.kind === 'lexeme' ? expression.pattern : undefined

/** The patterns of expressions, if none has rules. */
function patternsOf(expressions: readonly Expression[]): Pattern[] | undefined {
  const patterns = expressions.map(patternOf)
  return patterns.includes(undefined) ? undefined : (patterns as Pattern[])
}

/** Expressions without rules become one lexeme. */
function sequence(parts: readonly Expression[]): Expression {
  const patterns = patternsOf(parts)
  return patterns === undefined ? {kind: 'sequence', parts} : lexeme(pattern.sequence(...patterns))
}

function either(options: readonly Expression[]): Expression {
  const patterns = patternsOf(options)
  return patterns === undefined ? {kind: 'either', options} : lexeme(pattern.either(...patterns))
}

function repeat(part: Expression, min: number, max: number): Expression {
  const of = patternOf(part)
  return of === undefined ? {kind: 'repeat', part, min, max} : lexeme(pattern.repeat(of, min, max))
}

/** What replaces the parts of an expression. */
interface Replacement {
  readonly rule: (name: string) => Expression
  readonly lexeme: (of: Expression) => Expression
}

/** The expression with its rules and lexemes replaced; neighbouring lexemes become one. */
export function replaced(expression: Expression, by: Replacement): Expression {
  const next = (each: Expression): Expression => replaced(each, by)
  switch (expression.kind) {
    case 'lexeme':
      return by.lexeme(expression)
    case 'special':
    case 'nested':
      return expression
    case 'rule': {
      const rule = by.rule(expression.name)
      return rule.kind === 'lexeme' ? by.lexeme(rule) : rule
    }
    case 'sequence':
      return sequence(expression.parts.map(next))
    case 'either':
      return either(expression.options.map(next))
    case 'repeat':
      return repeat(next(expression.part), expression.min, expression.max)
  }
}
