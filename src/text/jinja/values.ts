import {budget, TemplateError} from './budget.js'
import {characters, quoted, textLength} from './text.js'

/**
 * A value of the template language. Integers are numbers, floats are `Float`, because `1` and `1.0` print differently.
 * Values from outside are copied by `fromJson`, so that templates reach no object of the host.
 */
export type Value = string | number | boolean | PyObject | Value[]

/** Values that are not primitive. */
export abstract class PyObject {
  /** Name of the type in Python. */
  abstract readonly type: string
  /** The attribute of this name; undefined if there is none. */
  attribute(_name: string): Value | undefined {
    return undefined
  }
  /** Python's `repr`. */
  toText(): string {
    return `<${this.type} object>`
  }
}

/** Python's `None`; it is not `null`, which operators such as `??` would mistake for a missing value. */
class None extends PyObject {
  readonly type = 'NoneType'
  override toText() {
    return 'None'
  }
}
export const none = new None()

export class Float extends PyObject {
  readonly type = 'float'
  constructor(readonly value: number) {
    super()
  }
  override toText() {
    return floatText(this.value)
  }
}

/** A variable, attribute or item that does not exist. Most operations on it fail with its message. */
export class Undefined extends PyObject {
  readonly type = 'Undefined'
  constructor(readonly message: string) {
    super()
  }
  override toText() {
    return 'Undefined'
  }
  fail(): never {
    throw new TemplateError(this.message)
  }
}

/** A list that cannot change. */
export class Tuple extends Array<Value> {
  static override readonly [Symbol.species] = Array
}

/** A group of the filter `groupby`: the common key, and the values. */
export class Group extends Tuple {}

export function toTuple<T extends Tuple = Tuple>(values: Iterable<Value>, tuple = new Tuple() as T): T {
  for (const value of values) tuple.push(value)
  return tuple
}

type Key = string | number | None | symbol

function keyOf(value: Value): Key {
  if (typeof value === 'string' || typeof value === 'number' || value === none) return value as Key
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Float) return value.value
  if (value instanceof Undefined) return undefinedKey
  throw new TemplateError(`unhashable type: '${typeName(value)}'`)
}
const undefinedKey = Symbol('undefined')

export class Dict extends PyObject {
  readonly type = 'dict'
  readonly #entries = new Map<Key, readonly [Value, Value]>()
  static of(entries: Iterable<readonly [Value, Value]>): Dict {
    const dict = new Dict()
    for (const [key, value] of entries) dict.set(key, value)
    return dict
  }
  get size() {
    return this.#entries.size
  }
  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1]
  }
  set(key: Value, value: Value): void {
    const known = this.#entries.get(keyOf(key))
    this.#entries.set(keyOf(key), [known === undefined ? key : known[0], value])
  }
  has(key: Value): boolean {
    return this.#entries.has(keyOf(key))
  }
  entries(): (readonly [Value, Value])[] {
    budget.spend(this.size)
    return [...this.#entries.values()]
  }
  keys(): Value[] {
    return this.entries().map(([key]) => key)
  }
  override toText() {
    return `{${commaJoined(this.entries().map(([key, value]) => `${repr(key)}: ${repr(value)}`))}}`
  }
}

/** The keys, values or items of a dictionary: they have a length, but no index. */
export class View extends PyObject {
  constructor(
    readonly type: 'dict_keys' | 'dict_values' | 'dict_items',
    readonly values: readonly Value[],
  ) {
    super()
  }
  override toText() {
    return `${this.type}([${commaJoined(this.values.map(repr))}])`
  }
}

export class Range extends PyObject {
  readonly type = 'range'
  readonly length: number
  constructor(
    readonly start: number,
    readonly stop: number,
    readonly step: number,
  ) {
    super()
    this.length = Math.max(0, Math.ceil((stop - start) / step))
  }
  at(index: number): number | undefined {
    const from = index < 0 ? index + this.length : index
    return from < 0 || from >= this.length ? undefined : this.start + from * this.step
  }
  override toText() {
    return this.step === 1 ? `range(${this.start}, ${this.stop})` : `range(${this.start}, ${this.stop}, ${this.step})`
  }
}

/** Values that can be iterated once, such as the results of `map` and `select`. */
export class Generator extends PyObject {
  readonly type: string
  readonly iterator: Iterator<Value>
  constructor(values: Iterable<Value>, type = 'generator') {
    super()
    this.type = type
    this.iterator = values[Symbol.iterator]()
  }
  [Symbol.iterator](): Iterator<Value> {
    // The wrapper lacks `return`, so that a loop that ends early leaves the remaining values.
    return {next: () => this.iterator.next()}
  }
}

/** The object that `namespace()` creates: `set` can change its attributes. */
export class Namespace extends PyObject {
  readonly type = 'Namespace'
  readonly values = new Map<string, Value>()
  override attribute(name: string) {
    return this.values.get(name)
  }
  override toText() {
    return `<Namespace ${Dict.of(this.values).toText()}>`
  }
}

export type Named = ReadonlyMap<string, Value>

export class Callable extends PyObject {
  constructor(
    readonly name: string,
    readonly call: (args: readonly Value[], named: Named) => Value,
    readonly type = 'function',
    readonly attributes: Named = new Map(),
  ) {
    super()
  }
  override attribute(name: string) {
    return this.attributes.get(name)
  }
  override toText() {
    return `<${this.type} ${this.name}>`
  }
}

/** Copies a JSON value. `undefined` entries of objects are omitted. */
export function fromJson(value: unknown): Value {
  if (value === null || value === undefined) return none
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : new Float(value)
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object') throw new TemplateError(`a variable has the type ${typeof value}`)
  const dict = new Dict()
  for (const [key, entry] of Object.entries(value)) if (entry !== undefined) dict.set(key, fromJson(entry))
  return dict
}

export function typeName(value: Value): string {
  if (typeof value === 'string') return 'str'
  if (typeof value === 'number') return 'int'
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return value instanceof Tuple ? 'tuple' : 'list'
  return value.type
}

/** The text that a value prints as. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value
  return value instanceof Undefined ? '' : repr(value)
}

/** Python's `repr`. */
export function repr(value: Value): string {
  budget.spend(1)
  if (typeof value === 'string') {
    budget.create(value.length)
    return quoted(value)
  }
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (!Array.isArray(value)) return value.toText()
  const items = commaJoined(value.map(repr))
  if (!(value instanceof Tuple)) return `[${items}]`
  return value.length === 1 ? `(${items},)` : `(${items})`
}

function commaJoined(items: readonly string[]): string {
  budget.create(items.reduce((sum, {length}) => sum + length + 2, 0))
  return items.join(', ')
}

/** Python's `repr` of a float: the shortest digits, with an exponent below 0.0001 and from 1e16 on. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (value !== 0 && (power < -4 || power >= 16))
    return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  if (Object.is(value, -0)) return '-0.0'
  const text = power < 0 ? value.toFixed(Math.max(1, mantissa.replace(/[-.]/g, '').length - 1 - power)) : String(value)
  return text.includes('.') ? text : `${text}.0`
}

export function isTrue(value: Value): boolean {
  if (typeof value !== 'object') return Boolean(value)
  if (value === none || value instanceof Undefined) return false
  if (value instanceof Float) return value.value !== 0
  return Array.isArray(value) || value instanceof Dict || value instanceof View || value instanceof Range
    ? lengthOf(value) > 0
    : true
}

/** The number of an integer, a Boolean or a float; undefined for other values. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Float ? value.value : undefined
}

/** The values that a loop over a value visits. Each costs a step. */
export function* iterate(value: Value): Generator_ {
  for (const each of iterable(value)) {
    budget.spend(1)
    yield each
  }
}
type Generator_ = globalThis.Generator<Value, void, undefined>

function iterable(value: Value): Iterable<Value> {
  if (typeof value === 'string' || Array.isArray(value)) return value
  if (value instanceof Dict) return value.keys()
  if (value instanceof View) return value.values
  if (value instanceof Generator) return value
  if (value instanceof Undefined) return []
  if (value instanceof Range) return rangeValues(value)
  throw new TemplateError(`'${typeName(value)}' object is not iterable`)
}

function* rangeValues(range: Range): Generator_ {
  for (let i = 0; i < range.length; i++) yield range.at(i) as number
}

export const isIterable = (value: Value): boolean =>
  typeof value === 'string' ||
  Array.isArray(value) ||
  [Dict, View, Generator, Undefined, Range].some((type) => value instanceof type)

/** @throws TemplateError if the value has no length */
export function lengthOf(value: Value): number {
  if (typeof value === 'string') return textLength(value)
  if (Array.isArray(value)) return value.length
  if (value instanceof Dict) return value.size
  if (value instanceof View) return value.values.length
  if (value instanceof Range) return value.length
  if (value instanceof Undefined) return 0
  throw new TemplateError(`object of type '${typeName(value)}' has no len()`)
}

/** The part of a sequence, with Python's rules for negative and missing bounds. */
export function slice(value: Value, bounds: readonly [start: Value, stop: Value, step: Value]): Value {
  if (value instanceof Undefined) value.fail()
  if (typeof value !== 'string' && !Array.isArray(value) && !(value instanceof Range))
    throw new TemplateError(`'${typeName(value)}' object is not subscriptable`)
  const [start, stop, by] = bounds.map((bound) => {
    if (bound === none || typeof bound === 'number') return bound
    if (typeof bound === 'boolean') return Number(bound)
    throw new TemplateError('slice indices must be integers or None')
  }) as [number | None, number | None, number | None]
  const step = typeof by === 'number' ? by : 1
  if (step === 0) throw new TemplateError('slice step cannot be zero')
  budget.read(value)
  const items = typeof value === 'string' ? characters(value) : value instanceof Range ? [...iterate(value)] : value
  const {length} = items
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1]
  const clamp = (bound: number | None, missing: number) =>
    typeof bound !== 'number' ? missing : Math.min(high, Math.max(low, bound < 0 ? bound + length : bound))
  const [from, to] = [clamp(start, step > 0 ? low : high), clamp(stop, step > 0 ? high : low)]
  if (typeof items === 'string' && step === 1) return items.slice(from, Math.max(from, to))
  const found: Value[] = []
  for (let i = from; step > 0 ? i < to : i > to; i += step) found.push(items[i] as Value)
  budget.spend(found.length)
  if (typeof value === 'string') {
    budget.create(found.length)
    return found.join('')
  }
  return value instanceof Tuple ? toTuple(found) : found
}

/** A value in messages about missing attributes. */
export const describe = (value: Value): string => (value === none ? 'None' : `${typeName(value)} object`)

export const missingAttribute = (value: Value, name: string): Undefined =>
  new Undefined(`'${describe(value)}' has no attribute ${quoted(name)}`)
