import type {Context} from './context.js'
import {Failure} from './failure.js'
import {asMap, display, isObject, type Value} from './value.js'

export const codePoints = (text: string): string[] => [...text]

/** The position of an element; a negative index counts from the end. */
function place(index: Value, length: number): number {
  const at = Number(index)
  if (!Number.isSafeInteger(at)) throw new Failure('CONVERSION', `${display(index)} is not an index`)
  const found = at < 0 ? at + length : at
  if (found < 0 || found >= length)
    throw new Failure('INDEX_OUT_OF_RANGE', `index ${at} is out of range for length ${length}`)
  return found
}

export function elementOf(object: Value, index: Value): Value {
  if (Array.isArray(object)) return object[place(index, object.length)]
  if (typeof object === 'string') {
    const points = codePoints(object)
    return points[place(index, points.length)]
  }
  if (object instanceof Map || (isObject(object) && typeof index === 'string')) {
    const entries = asMap(object)
    if (!entries.has(String(index))) throw new Failure('KEY_MISSING', `the map has no key ${JSON.stringify(index)}`)
    return entries.get(String(index))
  }
  throw new Failure('CONVERSION', 'only lists, strings and maps have elements')
}

/**
 * Lists and maps that only one variable refers to. Assigning their elements changes them in place, so that a loop that
 * fills a map takes linear time. No program can observe it: a value that is read as a whole is shared from then on.
 */
const owned = new WeakSet<object>()

/** Marks a value as read, so that the next assignment of an element copies it. */
export function share(value: Value): Value {
  if (typeof value === 'object' && value !== null) owned.delete(value)
  return value
}

/** The list or map with another element, for a variable that refers to no other value from then on. */
export function assigned(container: Value, index: Value, value: Value, context: Context): Value {
  const copy = ownedCopy(container, context)
  if (Array.isArray(copy)) copy[place(index, copy.length)] = value
  else copy.set(String(index), value)
  return copy
}

/** A list with another item at a position. */
export function replaced(list: readonly Value[], index: Value, item: Value, context: Context): Value[] {
  context.items(list.length)
  const copy = [...list]
  copy[place(index, copy.length)] = item
  return copy
}

function ownedCopy(container: Value, context: Context): Value[] | Map<string, Value> {
  if (Array.isArray(container)) {
    if (owned.has(container)) return container
    context.items(container.length)
    return own([...container])
  }
  const entries = asMap(container)
  if (owned.has(entries)) return entries
  context.items(entries.size)
  return own(new Map(entries))
}

function own<T extends object>(value: T): T {
  owned.add(value)
  return value
}
