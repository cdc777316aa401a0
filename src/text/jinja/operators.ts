import {budget, TemplateError} from './budget.js'
import {compare, contains, isEqual} from './comparison.js'
import {percentFormat} from './format.js'
import {Float, numberOf, Tuple, toTuple, typeName, Undefined, type Value} from './values.js'

export type Arithmetic = '+' | '-' | '*' | '/' | '//' | '%' | '**'
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in'

/** An integer must be exact. */
export function integer(value: number): number {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  throw new TemplateError(Number.isFinite(value) ? 'an integer is larger than 2^53' : 'a number is not finite')
}

export function arithmetic(operator: Arithmetic, a: Value, b: Value): Value {
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') return concatenated(a, b)
  const [left, right] = [numberOf(a), numberOf(b)]
  if (left !== undefined && right !== undefined) {
    const isFloat = a instanceof Float || b instanceof Float
    return calculate(operator, left, right, isFloat)
  }
  for (const side of [a, b]) if (side instanceof Undefined) side.fail()
  if (operator === '%' && typeof a === 'string') return percentFormat(a, b)
  if (operator === '*') {
    const [sequence, count] = left === undefined ? [a, b] : [b, a]
    if (typeof count === 'number' || typeof count === 'boolean') {
      if (typeof sequence === 'string') return repeated(sequence, Number(count))
      if (Array.isArray(sequence)) return repeatedList(sequence, Number(count))
    }
  }
  if (operator === '+' && Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    budget.spend(a.length + b.length)
    return a instanceof Tuple ? toTuple([...a, ...b]) : [...a, ...b]
  }
  throw new TemplateError(
    `unsupported operand type(s) for ${operator === '**' ? '** or pow()' : operator}: '${typeName(a)}' and '${typeName(b)}'`,
  )
}

export function concatenated(...texts: readonly string[]): string {
  budget.create(texts.reduce((sum, {length}) => sum + length, 0))
  return texts.reduce((all, text) => all + text, '')
}

function repeated(text: string, count: number): string {
  budget.create(Math.max(0, text.length * count))
  return text.repeat(Math.max(0, count))
}

function repeatedList(list: readonly Value[], count: number): Value[] {
  budget.spend(Math.max(0, list.length * count, count))
  const found = Array.from({length: Math.max(0, count)}, () => [...list]).flat()
  return list instanceof Tuple ? toTuple(found) : found
}

function calculate(operator: Arithmetic, a: number, b: number, isFloat: boolean): Value {
  const number = (value: number) => (isFloat ? new Float(value) : integer(value))
  switch (operator) {
    case '+':
      return number(a + b)
    case '-':
      return number(a - b)
    case '*':
      return number(a * b)
    case '/':
      requireDivisor(b, 'division by zero')
      return new Float(a / b)
    case '//':
      requireDivisor(b, isFloat ? 'float floor division by zero' : 'integer division or modulo by zero')
      return number(Math.floor(a / b))
    case '%': {
      requireDivisor(b, isFloat ? 'float modulo' : 'integer division or modulo by zero')
      const rest = a % b
      return number(rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest)
    }
    case '**':
      return isFloat || b < 0 ? new Float(a ** b) : integer(a ** b)
  }
}

function requireDivisor(value: number, reason: string): void {
  if (value === 0) throw new TemplateError(reason)
}

export function negated(value: Value, sign: 1 | -1): Value {
  const number = numberOf(value)
  if (value instanceof Undefined) value.fail()
  if (number === undefined)
    throw new TemplateError(`bad operand type for unary ${sign < 0 ? '-' : '+'}: '${typeName(value)}'`)
  return value instanceof Float ? new Float(sign * number) : integer(sign * number)
}

export function holds(operator: Comparison, a: Value, b: Value): boolean {
  switch (operator) {
    case '==':
      return isEqual(a, b)
    case '!=':
      return !isEqual(a, b)
    case 'in':
      return contains(b, a)
    case 'not in':
      return !contains(b, a)
    case '<':
      return compare(a, b, operator) < 0
    case '<=':
      return compare(a, b, operator) <= 0
    case '>':
      return compare(a, b, operator) > 0
    case '>=':
      return compare(a, b, operator) >= 0
  }
}
