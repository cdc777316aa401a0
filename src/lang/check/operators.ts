import type {Arg, BinaryExpr, Expr} from '../syntax/index.js'
import {concatenated} from './builtins.js'
import {checkCall} from './calls.js'
import {type Checker, nothing} from './checker.js'
import type {Arithmetic, Comparison, Ir, NumberMode} from './ir.js'
import {timeArithmetic, timeHint} from './time-builtins.js'
import {
  bool,
  dec,
  duration,
  fits,
  float,
  int,
  isNumber,
  isTime,
  isUnknown,
  join,
  show,
  str,
  type Type,
  unknown,
} from './types.js'

export function checkUnary(c: Checker, {operator, operand: inner}: Expr & {kind: 'unary'}): Ir {
  if (operator === 'not') return {kind: 'not', operand: condition(c, inner, operator), type: bool}
  const operand = c.value(inner)
  const {type} = operand
  if (type.kind === 'duration')
    return {
      kind: 'builtin',
      name: 'duration * number',
      args: [operand, {kind: 'const', value: -1, type: int}],
      type: duration,
    }
  if (!isNumber(type) && type.kind !== 'dec' && !isUnknown(type))
    c.report('typecheck.operator', inner, `Operator '-' does not apply to ${show(type)}.`)
  if (operand.kind === 'const' && typeof operand.value === 'number') return {...operand, value: -operand.value}
  return {kind: 'negate', operand, type: type.kind === 'id' ? int : type}
}

export function checkBinary(c: Checker, expr: BinaryExpr): Ir {
  const {operator, left, right} = expr
  switch (operator) {
    case '|>':
      return checkPipe(c, left, right)
    case 'with':
      c.report('parse.unsupported_operator', right, "'with' has no effect in the data language.")
      return c.value(left)
    case 'and':
    case 'or':
      return {kind: operator, left: condition(c, left, operator), right: condition(c, right, operator), type: bool}
    case 'is':
    case 'isnt': {
      const first = c.value(left)
      return compared(c, expr, operator, first, c.value(right, first.type), canEqual)
    }
    case '<':
    case '>':
    case '<=':
    case '>=':
      return compared(c, expr, operator, c.value(left), c.value(right), canOrder)
    default:
      return checkArithmetic(c, operator, {expr: left, ir: c.value(left)}, right)
  }
}

function condition(c: Checker, expr: Expr, operator: string): Ir {
  const ir = c.value(expr)
  if (!fits(ir.type, bool))
    c.report(
      'typecheck.operator',
      expr,
      `Operator '${operator}' does not apply to ${show(ir.type)}.`,
      hints(conditionHint(ir.type)),
    )
  return ir
}

/** `x |> f(y)` is `f(x, y)`. */
function checkPipe(c: Checker, left: Expr, right: Expr): Ir {
  const arg: Arg = {name: undefined, value: left, start: left.start, end: left.end}
  const callee = right.kind === 'call' ? right.callee : right
  const args = right.kind === 'call' ? [arg, ...right.args] : [arg]
  return checkCall(c, {kind: 'call', callee, args, depth: right.depth, start: left.start, end: right.end})
}

function compared(
  c: Checker,
  expr: BinaryExpr,
  operator: Comparison,
  left: Ir,
  right: Ir,
  canCompare: (a: Type, b: Type) => boolean,
): Ir {
  const [a, b] = [left.type, right.type]
  if (a.kind !== b.kind && modeOf(a, b) === 'dec')
    return {kind: 'compare', operator, mode: 'dec', left: asDecimal(left), right: asDecimal(right), type: bool}
  if (!canCompare(a, b))
    c.report(
      'typecheck.operator',
      expr,
      `Operator '${operator}' cannot compare ${show(a)} with ${show(b)}.`,
      hints(timeHint(a, b)),
    )
  const mode = a.kind === 'dec' && b.kind === 'dec' ? 'dec' : 'plain'
  return {kind: 'compare', operator, mode, left, right, type: bool}
}

const canEqual = (a: Type, b: Type) => fits(a, b, 'slot') || fits(b, a, 'slot')

const canOrder = (a: Type, b: Type) =>
  (isNumber(a) && isNumber(b) && fitsEither(a, b)) ||
  (a.kind === b.kind && (a.kind === 'str' || a.kind === 'dec' || isTime(a))) ||
  isUnknown(a) ||
  isUnknown(b)

/** Whether two numbers are comparable, that is, not ids of different tables. */
const fitsEither = (a: Type, b: Type) => fits(a, b) || fits(b, a) || a.kind === 'float' || b.kind === 'float'

export function checkArithmetic(
  c: Checker,
  operator: Arithmetic,
  {expr: first, ir: left}: {expr: Expr; ir: Ir},
  second: Expr,
): Ir {
  const right = c.value(second)
  const [a, b] = [left.type, right.type]
  if (operator === '+' && (a.kind === 'str' || b.kind === 'str')) return {kind: 'concat', left, right, type: str}
  if (operator === '+' && isItems(a) && isItems(b) && join(a.of, b.of) !== undefined)
    return {kind: 'method', family: 'list', name: 'concat', object: left, args: [right], type: concatenated(a, b)}
  if (isUnknown(a) || isUnknown(b)) {
    const type = isUnknown(a) ? (isUnknown(b) ? unknown : b) : a
    return {kind: 'arithmetic', operator, mode: 'unknown', left, right, type: operator === '+' ? unknown : type}
  }
  const time = timeArithmetic(operator, left, right)
  if (time !== undefined) return time
  const mode = modeOf(a, b)
  if (mode === undefined) {
    const span = {start: first.start, end: second.end}
    const message = `Operator '${operator}' does not apply to ${show(a)} and ${show(b)}.`
    c.report('typecheck.operator', span, message, hints(timeHint(a, b) ?? arithmeticHint(operator, a, b)))
    return nothing
  }
  const [x, y] = mode === 'dec' ? [asDecimal(left), asDecimal(right)] : [left, right]
  return {kind: 'arithmetic', operator, mode, left: x, right: y, type: {int, float, dec}[mode]}
}

/** What to write instead of arithmetic that does not exist. */
function arithmeticHint(operator: Arithmetic, a: Type, b: Type): string | undefined {
  if (a.kind === 'option' || b.kind === 'option') return 'The value may be absent: use match, unwrap_or or ?.'
  if (operator === '*' && a.kind === 'str' && b.kind === 'int') return 'Write text.repeat(n).'
  if (operator === '-' && isItems(a)) return 'Write items.difference(others), or items.filter(f).'
  return undefined
}

/** What to write instead of a value that is not a bool. */
function conditionHint({kind}: Type): string | undefined {
  if (kind === 'list' || kind === 'set' || kind === 'map' || kind === 'str') return 'Write not x.is_empty().'
  if (kind === 'option') return 'Write x.is_some().'
  return kind === 'int' ? 'Write x isnt 0.' : undefined
}

const hints = (hint: string | undefined) => (hint === undefined ? {} : {hints: [hint]})

const isItems = (type: Type): type is Type & {kind: 'list' | 'set'} => type.kind === 'list' || type.kind === 'set'

/** Types whose values are decimals, or are converted to them without loss. */
const isExact = ({kind}: Type) => kind === 'dec' || kind === 'int'

export const asDecimal = (ir: Ir): Ir => {
  if (ir.type.kind !== 'int') return ir
  if (ir.kind === 'const') return {kind: 'const', value: String(ir.value), type: dec}
  return {kind: 'builtin', name: 'dec', args: [ir], type: dec}
}

function modeOf(a: Type, b: Type): Exclude<NumberMode, 'unknown'> | undefined {
  if ((a.kind === 'dec' && isExact(b)) || (b.kind === 'dec' && isExact(a))) return 'dec'
  if (!isNumber(a) || !isNumber(b)) return undefined
  return a.kind === 'float' || b.kind === 'float' ? 'float' : 'int'
}
