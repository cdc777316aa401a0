import {createHash, randomUUID} from 'node:crypto'
import {type MethodFamily, type RoundingMode, roundingModes} from '../check/index.js'
import {call} from './call.js'
import type {Context} from './context.js'
import {decimalOf, roundDecimal} from './decimal.js'
import {codePoints, elementOf} from './elements.js'
import {Failure} from './failure.js'
import {parseJsonText} from './json-text.js'
import {untypedListMethods} from './list-methods.js'
import {passwordBuiltins} from './password.js'
import {randomBuiltins} from './random.js'
import {regexBuiltins} from './regex.js'
import {maxLength, sized} from './size.js'
import {timeBuiltins, timeMethods} from './time.js'
import {asMap, display, Err, fromJson, isObject, jsonNull, Ok, toJson, type Value} from './value.js'

type Args = readonly Value[]
type Builtin = (args: Args, context: Context) => Value
export type Method = (self: never, args: Args, context: Context) => Value

function length(value: Value): number {
  if (typeof value === 'string') return codePoints(value).length
  if (Array.isArray(value)) return value.length
  if (value instanceof Map) return value.size
  return isObject(value) ? Object.keys(value).length : 0
}

function toInteger(value: Value): number {
  const text = typeof value === 'string' ? value.trim() : undefined
  const number = text === undefined ? Math.trunc(Number(value)) : /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number)) throw new Failure('CONVERSION', `${display(value)} is not an int`)
  return number + 0
}

function toFloat(value: Value): number {
  const text = typeof value === 'string' ? value.trim() : undefined
  const number = text === undefined || /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(value) : Number.NaN
  if (!Number.isFinite(number)) throw new Failure('CONVERSION', `${display(value)} is not a float`)
  return number
}

const decimalText = /^[+-]?\d+(\.\d+)?$/

function toDecimal(value: Value): string {
  if (typeof value === 'number' && Number.isFinite(value)) return decimalOf(value)
  const text = typeof value === 'string' ? value.trim() : ''
  if (!decimalText.test(text)) throw new Failure('CONVERSION', `${display(value)} is not a dec`)
  return text.replace(/^\+/, '')
}

/** Maximum number of decimal places of `round`. */
const maxPlaces = 1000

function rounding([places = 0, mode = 'half_even']: Args): [places: number, mode: RoundingMode] {
  if (typeof places !== 'number' || places < 0 || places > maxPlaces)
    throw new Failure('CONVERSION', `${display(places)} is not a number of decimal places`)
  const known = roundingModes.find((each) => each === mode)
  if (known === undefined) throw new Failure('CONVERSION', `${display(mode)} is not a mode of rounding`)
  return [places, known]
}

const real = (value: number): number => {
  if (!Number.isFinite(value)) throw new Failure('CONVERSION', 'the result is not a number')
  return value
}

function range(from: number, to: number): number[] {
  const count = Math.max(0, to - from)
  if (count > maxLength) throw new Failure('STEP_LIMIT', 'the range is too long')
  return Array.from({length: count}, (_, i) => from + i)
}

const parsed =
  (convert: (value: Value) => Value): Builtin =>
  ([text]) => {
    try {
      return new Ok(convert(text))
    } catch (error) {
      if (error instanceof Failure) return new Err(error.message)
      throw error
    }
  }

function parseJson(text: string): Ok | Err {
  try {
    return new Ok(fromJson(parseJsonText(text)))
  } catch (error) {
    return new Err(`json: ${(error as Error).message}`)
  }
}

const logged =
  (level: 'debug' | 'info' | 'warn' | 'error'): Builtin =>
  ([value], context) => {
    context.once(() => context.ports.log(level, display(value)))
  }

const levels = {debug: logged('debug'), info: logged('info'), warn: logged('warn'), error: logged('error')}
const prefixed = (prefix: string) =>
  Object.fromEntries(Object.entries(levels).map(([level, log]) => [`${prefix}.${level}`, log]))

export const builtins: Readonly<Record<string, Builtin>> = {
  len: ([value]) => length(value),
  str: ([value]) => display(value),
  to_string: ([value]) => display(value),
  int: ([value]) => toInteger(value),
  float: ([value]) => toFloat(value),
  dec: ([value]) => toDecimal(value),
  'std.math.abs': ([x]) => Math.abs(Number(x)),
  'std.math.min': ([a, b]) => Math.min(Number(a), Number(b)),
  'std.math.max': ([a, b]) => Math.max(Number(a), Number(b)),
  'std.math.floor': ([x]) => toInteger(Math.floor(Number(x))),
  'std.math.ceil': ([x]) => toInteger(Math.ceil(Number(x))),
  'std.math.sqrt': ([x]) => real(Math.sqrt(Number(x))),
  'std.math.pow': ([x, y]) => real(Number(x) ** Number(y)),
  'std.math.exp': ([x]) => real(Math.exp(Number(x))),
  'std.math.log': ([x]) => real(Math.log(Number(x))),
  range: ([from, to]) => range(Number(from), Number(to)),
  print: levels.info,
  assert: ([condition, message]) => {
    if (condition !== true)
      throw new Failure('ASSERTION_FAILED', typeof message === 'string' ? message : 'assertion failed')
  },
  as_map: ([object]) => asMap(object),
  'std.time.now_ms': (_, context) => context.once(() => Date.now()),
  'std.crypto.uuid': (_, context) => context.once(() => randomUUID()),
  'std.crypto.hash_secure': ([text]) => createHash('sha256').update(String(text)).digest('hex'),
  'int.parse': parsed(toInteger),
  'float.parse': parsed(toFloat),
  'dec.parse': parsed(toDecimal),
  'std.json.parse': ([text]) => parseJson(String(text)),
  'std.json.stringify': ([value]) => JSON.stringify(toJson(value)),
  'std.json.quote': ([text]) => JSON.stringify(String(text)),
  'std.env.get': ([key], context) => context.ports.env[String(key)] ?? null,
  ...prefixed('std.log'),
  ...prefixed('log'),
  ...timeBuiltins,
  ...regexBuiltins,
  ...randomBuiltins,
  ...passwordBuiltins,
  'Speech.transcribe': ([path], context) => {
    const {transcribe} = context.ports
    if (transcribe === undefined) return new Err('speech engine is not available')
    const answer = context.await(() => transcribe(String(path)).catch((error: Error) => ({error: error.message})))
    return 'ok' in answer ? new Ok(answer.ok) : new Err(answer.error)
  },
}

const str: Readonly<Record<string, (self: string, args: Args) => Value>> = {
  len: (self) => codePoints(self).length,
  is_empty: (self) => self === '',
  contains: (self, [part]) => self.includes(String(part)),
  starts_with: (self, [part]) => self.startsWith(String(part)),
  ends_with: (self, [part]) => self.endsWith(String(part)),
  trim: (self) => self.trim(),
  trim_start: (self) => self.trimStart(),
  trim_end: (self) => self.trimEnd(),
  pad_start: (self, args) => padding(self, args) + self,
  pad_end: (self, args) => self + padding(self, args),
  to_upper: (self) => self.toUpperCase(),
  to_lower: (self) => self.toLowerCase(),
  replace: (self, [from, to]) => sized(self.replaceAll(String(from), () => String(to))),
  split: (self, [separator]) => (separator === '' ? codePoints(self) : self.split(String(separator))),
  slice: (self, [from, to]) =>
    codePoints(self)
      .slice(Number(from), to === undefined ? undefined : Number(to))
      .join(''),
  char_at: (self, [index]) => elementOf(self, index) as string,
  index_of: (self, [part]) => {
    const at = self.indexOf(String(part))
    return at < 0 ? -1 : codePoints(self.slice(0, at)).length
  },
  repeat: (self, [times]) => {
    const count = Math.max(0, Number(times))
    if (self.length * count > maxLength) throw new Failure('STEP_LIMIT', 'the resulting string is too long')
    return self.repeat(count)
  },
}

/** What is missing from a text to a length in code points: a repeated text. */
function padding(text: string, [wanted, filler = ' ']: Args): string {
  const missing = Number(wanted) - codePoints(text).length
  const fill = codePoints(String(filler))
  if (missing <= 0 || fill.length === 0) return ''
  if (missing > maxLength) throw new Failure('STEP_LIMIT', 'the resulting string is too long')
  return [...fill.join('').repeat(Math.ceil(missing / fill.length))].slice(0, missing).join('')
}

const int: Readonly<Record<string, (self: number) => Value>> = {abs: (self) => Math.abs(self)}

const float: Readonly<Record<string, (self: number, args: Args) => Value>> = {
  abs: (self) => Math.abs(self),
  round: (self, args) => (Number.isFinite(self) ? Number(roundDecimal(decimalOf(self), ...rounding(args))) : self),
}

const dec: Readonly<Record<string, (self: string, args: Args) => Value>> = {
  abs: (self) => self.replace(/^-/, ''),
  round: (self, args) => roundDecimal(self, ...rounding(args)),
}

const unwrapped = (found: boolean, value: Value, what: string): Value => {
  if (!found) throw new Failure('UNWRAP', what)
  return value
}

const option: Readonly<Record<string, (self: Value, args: Args, context: Context) => Value>> = {
  is_some: (self) => self !== null,
  is_none: (self) => self === null,
  unwrap: (self) => unwrapped(self !== null, self, 'unwrap() of None'),
  unwrap_or: (self, [fallback]) => self ?? fallback,
  map: (self, [callable], context) => (self === null ? null : call(callable, [self], context)),
  or_else: (self, [callable], context) => self ?? call(callable, [], context),
  ok_or: (self, [error]) => (self === null ? new Err(error) : new Ok(self)),
}

const result: Readonly<Record<string, (self: Ok | Err, args: Args, context: Context) => Value>> = {
  is_ok: (self) => self instanceof Ok,
  is_err: (self) => self instanceof Err,
  unwrap: (self) => {
    if (self instanceof Err && self.failure !== undefined) throw self.failure
    return unwrapped(self instanceof Ok, self.value, `unwrap() of Error(${display(self.value)})`)
  },
  unwrap_or: (self, [fallback]) => (self instanceof Ok ? self.value : fallback),
  map: (self, [callable], context) => (self instanceof Ok ? new Ok(call(callable, [self.value], context)) : self),
  map_err: (self, [callable], context) => (self instanceof Err ? new Err(call(callable, [self.value], context)) : self),
  ok: (self) => (self instanceof Ok ? self.value : null),
}

type MapMethod = (self: Map<string, Value>, args: Args, context: Context) => Value

/** A changed copy of a map. */
const changed =
  (change: (copy: Map<string, Value>, args: Args) => void): MapMethod =>
  (self, args, context) => {
    const copy = new Map(asMap(self))
    change(copy, args)
    if (copy.size > maxLength) throw new Failure('STEP_LIMIT', 'a map is too long')
    context.items(copy.size)
    return copy
  }

const set = changed((copy, [key, item]) => copy.set(String(key), item))

const map: Readonly<Record<string, MapMethod>> = {
  get: (self, [key]) => asMap(self).get(String(key)) ?? null,
  keys: (self) => [...asMap(self).keys()],
  values: (self) => [...asMap(self).values()],
  entries: (self) => [...asMap(self)],
  len: (self) => asMap(self).size,
  is_empty: (self) => asMap(self).size === 0,
  contains: (self, [key]) => asMap(self).has(String(key)),
  set,
  with: set,
  remove: changed((copy, [key]) => copy.delete(String(key))),
  filter: (self, [condition], context) =>
    new Map([...asMap(self)].filter(([key, item]) => call(condition, [key, item], context) === true)),
  map_values: (self, [callable], context) =>
    new Map([...asMap(self)].map(([key, item]) => [key, call(callable, [item], context)])),
  merge: changed((copy, [others]) => {
    for (const [key, item] of asMap(others)) copy.set(key, item)
  }),
}

const jsonMember =
  (accepts: (value: unknown) => boolean) =>
  (self: Value, [key]: Args) => {
    const value = isObject(self) && Object.hasOwn(self, String(key)) ? self[String(key)] : undefined
    return accepts(value) ? new Ok(value) : new Err(`json: '${String(key)}' is missing or has another type`)
  }

const json: Readonly<Record<string, (self: Value, args: Args) => Value>> = {
  get_str: jsonMember((value) => typeof value === 'string'),
  get_int: jsonMember(Number.isSafeInteger),
  get_float: jsonMember((value) => typeof value === 'number'),
  get_bool: jsonMember((value) => typeof value === 'boolean'),
  get_object: jsonMember(isObject),
  get_array: jsonMember(Array.isArray),
  at: (self, [index]) => {
    const value = Array.isArray(self) ? self.at(Number(index)) : undefined
    return value === undefined ? new Err(`json: element ${Number(index)} does not exist`) : new Ok(value)
  },
  length,
  is_null: (self) => self === jsonNull || self === null,
  to_string: (self) => JSON.stringify(toJson(self)),
}

const request: Readonly<Record<string, (self: Value, args: Args, context: Context) => Value>> = {
  json: (_, __, {request: facts}) => parseJson(facts?.text ?? ''),
  text: (_, __, {request: facts}) => facts?.text ?? '',
  query: (_, [name], {request: facts}) => facts?.query[String(name)] ?? null,
  param: (_, [name], {request: facts}) => facts?.params[String(name)] ?? null,
  header: (_, [name], {request: facts}) =>
    [facts?.headers[String(name).toLowerCase()] ?? null].flat().join(', ') || null,
}

const families: Readonly<Record<MethodFamily, Readonly<Record<string, Method>>>> = {
  list: untypedListMethods,
  str,
  int,
  float,
  dec,
  option,
  result,
  map,
  json,
  request,
  ...timeMethods,
}

export const methodOf = (family: MethodFamily, name: string): Method | undefined =>
  Object.hasOwn(families[family], name) ? families[family][name] : undefined

/** The method family of a value of unknown type. */
export function familyOfValue(value: Value): MethodFamily {
  if (typeof value === 'string') return 'str'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Map) return 'map'
  if (value instanceof Ok || value instanceof Err) return 'result'
  return isObject(value) || value === jsonNull ? 'json' : 'option'
}
