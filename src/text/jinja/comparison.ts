import {budget, TemplateError} from './budget.js'
import {Dict, isIterable, iterate, numberOf, Range, Tuple, typeName, Undefined, type Value} from './values.js'

export function isEqual(a: Value, b: Value): boolean {
  budget.spend(1)
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) budget.compare(a.length)
  if (a === b) return true
  const number = numberOf(a)
  if (number !== undefined) return number === numberOf(b)
  if (Array.isArray(a))
    return (
      Array.isArray(b) &&
      a instanceof Tuple === b instanceof Tuple &&
      a.length === b.length &&
      a.every((value, i) => isEqual(value, b[i] as Value))
    )
  if (a instanceof Dict)
    return (
      b instanceof Dict &&
      a.size === b.size &&
      a.entries().every(([key, value]) => b.has(key) && isEqual(value, b.get(key) as Value))
    )
  if (a instanceof Range) return b instanceof Range && isEqual([...iterate(a)], [...iterate(b)])
  return a instanceof Undefined && b instanceof Undefined
}

/** Negative if `a` is before `b`. @throws TemplateError if Python cannot order them */
export function compare(a: Value, b: Value, operator = '<'): number {
  budget.spend(1)
  const [left, right] = [numberOf(a), numberOf(b)]
  if (left !== undefined && right !== undefined) return left - right
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    const at = a.findIndex((value, i) => i >= b.length || !isEqual(value, b[i] as Value))
    return at === -1 || at >= b.length ? a.length - b.length : compare(a[at] as Value, b[at] as Value, operator)
  }
  for (const side of [a, b]) if (side instanceof Undefined) side.fail()
  throw new TemplateError(`'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`)
}

/** Orders texts by code points; JavaScript orders them by UTF-16 units. */
function compareTexts(a: string, b: string): number {
  budget.compare(Math.min(a.length, b.length))
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a[i] === b[i]) continue
    const [left, right] = [a.codePointAt(i) as number, b.codePointAt(i) as number]
    return left - right
  }
  return a.length - b.length
}

/** Python's `in`. */
export function contains(container: Value, value: Value): boolean {
  if (typeof container === 'string') {
    if (typeof value === 'string') {
      budget.search(container, value)
      return container.includes(value)
    }
    throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(value)}`)
  }
  if (container instanceof Dict) return container.has(value)
  if (!isIterable(container)) throw new TemplateError(`argument of type '${typeName(container)}' is not iterable`)
  for (const each of iterate(container)) if (isEqual(each, value)) return true
  return false
}
