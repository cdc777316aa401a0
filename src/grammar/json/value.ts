import type {Expression, Grammar} from '../grammar.js'
import {anyText, text} from '../pattern/build.js'
import {jsonNumber, lexeme, type Punctuation, punctuation, type Whitespace} from './text.js'

const rule = (name: string): Expression => ({kind: 'rule', name})
const sequence = (...parts: Expression[]): Expression => ({kind: 'sequence', parts})
const either = (...options: Expression[]): Expression => ({kind: 'either', options})
const any = (part: Expression): Expression => ({kind: 'repeat', part, min: 0, max: Number.POSITIVE_INFINITY})

const known = new WeakMap<Punctuation, ReadonlyMap<string, Expression>>()

/** Rules of any JSON value, object and array, the same for all grammars. Their names start with `json`. */
export function jsonRules(punctuation: Punctuation): ReadonlyMap<string, Expression> {
  const rules = known.get(punctuation) ?? createRules(punctuation)
  known.set(punctuation, rules)
  return rules
}

function createRules({open, close, empty, comma, key, string}: Punctuation): ReadonlyMap<string, Expression> {
  const pair = sequence(key(anyText), rule('json value'))
  const list = (brackets: '{}' | '[]', item: Expression): Expression =>
    either(
      empty(brackets),
      sequence(open(brackets[0] as '{' | '['), item, any(sequence(comma, item)), close(brackets[1] as '}' | ']')),
    )
  const scalars = [...[text('null'), text('true'), text('false'), jsonNumber].map(lexeme), string(anyText)]
  return new Map([
    ['json value', either(...scalars, rule('json object'), rule('json array'))],
    ['json object', list('{}', pair)],
    ['json array', list('[]', rule('json value'))],
  ])
}

/** JSON mode: any JSON object, or any JSON value. */
export function jsonGrammar(top: 'object' | 'value', whitespace: Whitespace = 'bounded'): Grammar {
  return {start: `json ${top}`, rules: jsonRules(punctuation(whitespace))}
}
