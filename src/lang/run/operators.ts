import type {Arithmetic, IrOf, NumberMode} from '../check/index.js'
import {calculateDecimals} from './decimal.js'
import {equality} from './equality.js'
import {Failure} from './failure.js'
import {compareValues, ordering} from './ordering.js'
import {sized} from './size.js'
import {display, type Value} from './value.js'

const safe = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new Failure('INT_OVERFLOW', 'the result is outside the range of int')
  return value
}

const nonZero = (value: number): number => {
  if (value === 0) throw new Failure('DIVISION_BY_ZERO', 'division by zero')
  return value
}

type Calculate = (a: number, b: number) => number

/** Division truncates toward zero; the remainder has the sign of the dividend. Adding 0 converts -0 to 0. */
const integerArithmetic: Readonly<Record<Arithmetic, Calculate>> = {
  '+': (a, b) => safe(a + b),
  '-': (a, b) => safe(a - b),
  '*': (a, b) => safe(a * b) + 0,
  '/': (a, b) => (a - (a % nonZero(b))) / b + 0,
  '%': (a, b) => (a % nonZero(b)) + 0,
}

const floatArithmetic: Readonly<Record<Arithmetic, Calculate>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / nonZero(b),
  '%': (a, b) => a % nonZero(b),
}

export function arithmetic(operator: Arithmetic, mode: NumberMode): (a: Value, b: Value) => Value {
  switch (mode) {
    case 'int':
      return integerArithmetic[operator] as (a: Value, b: Value) => Value
    case 'float':
      return floatArithmetic[operator] as (a: Value, b: Value) => Value
    case 'dec':
      return (a, b) => calculateDecimals(a as string, operator, b as string)
    case 'unknown':
      return (a, b) => {
        if (operator === '+' && (typeof a === 'string' || typeof b === 'string')) return sized(display(a) + display(b))
        if (operator === '+' && Array.isArray(a) && Array.isArray(b)) return sized([...a, ...b])
        if (typeof a !== 'number' || typeof b !== 'number')
          throw new Failure('CONVERSION', `'${operator}' does not apply to these values`)
        const areIntegers = Number.isInteger(a) && Number.isInteger(b)
        return (areIntegers ? integerArithmetic : floatArithmetic)[operator](a, b)
      }
  }
}

export function comparison({operator, mode, left, right}: IrOf<'compare'>): (a: Value, b: Value) => boolean {
  const order: (a: Value, b: Value) => number =
    mode === 'dec' || left.type.kind === 'duration' ? ordering(left.type) : compareValues
  switch (operator) {
    case 'is':
      return equality(left.type, right.type)
    case 'isnt': {
      const equal = equality(left.type, right.type)
      return (a, b) => !equal(a, b)
    }
    case '<':
      return (a, b) => order(a, b) < 0
    case '>':
      return (a, b) => order(a, b) > 0
    case '<=':
      return (a, b) => order(a, b) <= 0
    case '>=':
      return (a, b) => order(a, b) >= 0
  }
}
