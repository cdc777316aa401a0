import {Failure} from './failure.js'
import {InexactNumber} from './json-text.js'

/**
 * Values of a running program are plain JavaScript and immutable. An int, float, str or bool is unchanged, and a `dec`
 * is its digits. None is null, Some(x) is x, and Unit is undefined. Lists and tuples are arrays, maps are Map, rows and
 * records are objects, and variants are objects with `_tag`. `Json` is as parsed, except null.
 */
export type Value = unknown

/** The null of `Json`, a stored value; None, in contrast, omits its field. */
export const jsonNull = Symbol('null')

const loneSurrogate = /\p{Surrogate}/u

/** Whether text can be stored as UTF-8, that is, contains no lone surrogate. */
export const isText = (text: string): boolean => !loneSurrogate.test(text)

/** Parsed JSON that would not be stored unchanged. */
export class Unstorable extends Error {
  /** What is expected instead. */
  readonly expected: string
  constructor(message: string, expected: string) {
    super(message)
    this.expected = expected
  }
}

export const expectedText = 'well-formed Unicode text'

/** A number of a `Json` value may lose digits of its fraction, but no others. @throws Unstorable */
function rounded({text, value}: InexactNumber): number {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
  throw new Unstorable(`the number ${text} would be rounded`, 'a number that is not rounded, or a string')
}

/** Converts parsed JSON to a `Json` value; returns the input if nothing changes. @throws Unstorable */
export function fromJson(parsed: unknown): Value {
  if (parsed === null || parsed === undefined) return jsonNull
  if (typeof parsed === 'string' && !isText(parsed))
    throw new Unstorable('text contains a lone surrogate', expectedText)
  if (typeof parsed !== 'object') return parsed
  if (parsed instanceof InexactNumber) return rounded(parsed)
  if (Array.isArray(parsed)) {
    const items = parsed.map(fromJson)
    return items.some((item, i) => item !== parsed[i]) ? items : parsed
  }
  const entries = Object.entries(parsed)
  const members = entries.map(([key, member]) => [isText(key) ? key : fromJson(key), fromJson(member)] as const)
  return members.some(([, member], i) => member !== entries[i]?.[1]) ? Object.fromEntries(members) : parsed
}

export type Callable = (args: readonly Value[]) => Value

export class Ok {
  readonly value: Value
  constructor(value: Value) {
    this.value = value
  }
}

export class Err {
  readonly value: Value
  /** For a database operation: the failure to throw if the program does not handle it. */
  readonly failure: Failure | undefined
  constructor(value: Value, failure?: Failure) {
    this.value = value
    this.failure = failure
  }
}

export type Objects = Readonly<Record<string, Value>>

/** Converts to a map; the checker has verified that an unnamed object can be used as one. */
export const asMap = (value: Value): Map<string, Value> =>
  value instanceof Map ? value : new Map(Object.entries(value as Objects))

export const isObject = (value: Value): value is Objects =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map)

/** Whether a value is a variant of a sum type. */
export const isTagged = (value: Value): value is {_tag: string} => isObject(value) && typeof value._tag === 'string'

/**
 * Converts a value to JSON: None omits its key from an object, Result and variants are tagged. Returns the value
 * itself if nothing changes, as in most rows.
 * @throws Failure NOT_STORABLE for NaN, the infinities and functions
 */
export function toJson(value: Value): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      throw new Failure('NOT_STORABLE', `${value} cannot be stored or sent`)
    case 'undefined':
    case 'symbol':
      return null
    case 'object':
      return value === null ? null : objectToJson(value)
    default:
      throw new Failure('NOT_STORABLE', 'a function cannot be stored or sent')
  }
}

function objectToJson(value: object): unknown {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (toJson(value[i]) !== value[i]) return value.map(toJson)
    return value
  }
  if (value instanceof Ok) return {_tag: 'Ok', value: toJson(value.value)}
  if (value instanceof Err) return {_tag: 'Error', value: toJson(value.value)}
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, toJson(item)]))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  const fields = value as Record<string, unknown>
  for (const key in fields) {
    const field = fields[key]
    if (field === null || field === undefined || toJson(field) !== field) return withoutNone(fields)
  }
  return value
}

const withoutNone = (fields: Objects) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) =>
      field === null || field === undefined ? [] : [[key, toJson(field)]],
    ),
  )

/** Formats a value for `str(x)` and `+`: strings unchanged, everything else as JSON. */
export function display(value: Value): string {
  if (typeof value === 'string') return value
  if (value === undefined) return 'Unit'
  if (value === null) return 'None'
  if (typeof value === 'number') return String(value)
  return JSON.stringify(toJson(value))
}
