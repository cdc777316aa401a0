import {durationMs, type Type, type Visitor, visitSome} from '../check/index.js'
import {compareDecimals} from './decimal.js'
import {Failure} from './failure.js'
import type {Value} from './value.js'

/** Negative, zero or positive if the first value is less than, equal to or greater than the second. */
export type Compare = (a: Value, b: Value) => number

/** The order of the values of a type; that of the operators and of `order_by`. None is first. */
export const ordering = (type: Type): Compare => visitSome(type, orderings, undefined, () => compareValues)

const orderings: Partial<Visitor<Type, Compare, undefined>> = {
  dec: () => compareDecimals as Compare,
  duration: () => (a, b) => durationMs(String(a)) - durationMs(String(b)),
  bool: () => (a, b) => Number(a) - Number(b),
  option: ({of}) => {
    const compare = ordering(of)
    return (a, b) => (a === null || b === null ? Number(a !== null) - Number(b !== null) : compare(a, b))
  },
  tuple: ({items}) => {
    const compares = items.map(ordering)
    return (a, b) => {
      for (const [i, compare] of compares.entries()) {
        const order = compare((a as Value[])[i], (b as Value[])[i])
        if (order !== 0) return order
      }
      return 0
    }
  },
}

/** Compares numbers by value and strings by code point, as SQLite does. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  throw new Failure('CONVERSION', 'the values cannot be ordered')
}

function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** The order of a code unit by code point: surrogates are halves of the highest code points. */
const rank = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)
