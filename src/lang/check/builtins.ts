import type {Ir, MethodFamily} from './ir.js'
import {bool, float, fn, int, json, list, option, result, str, type Type, unit, unknown} from './types.js'

/** The parameters and result of a built-in function or method. */
export interface Signature {
  params: readonly Type[]
  /** The number of optional parameters, counted from the end. */
  optional?: number
  result: Type | ((args: readonly Ir[]) => Type)
}

const takes = (params: readonly Type[], result: Signature['result'], optional = 0): Signature => ({
  params,
  result,
  optional,
})

/** Global functions. */
export const functions: Readonly<Record<string, Signature>> = {
  len: takes([unknown], int),
  str: takes([unknown], str),
  to_string: takes([unknown], str),
  int: takes([unknown], int),
  float: takes([unknown], float),
  range: takes([int, int], list(int)),
  print: takes([unknown], unit),
  assert: takes([bool, str], unit, 1),
}

const logLevels = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, takes([unknown], unit)]))
const prefixed = (prefix: string, table: Readonly<Record<string, Signature>>) =>
  Object.fromEntries(Object.entries(table).map(([name, signature]) => [`${prefix}.${name}`, signature]))

/** Functions in namespaces, by their full name. */
export const namespaced: Readonly<Record<string, Signature>> = {
  'std.time.now_ms': takes([], int),
  'std.crypto.uuid': takes([], str),
  'std.crypto.hash_secure': takes([str], str),
  'std.json.parse': takes([str], result(json)),
  'std.json.stringify': takes([unknown], str),
  'std.json.quote': takes([str], str),
  'std.env.get': takes([str], option(str)),
  ...prefixed('std.log', logLevels),
  ...prefixed('log', logLevels),
  'Speech.transcribe': takes([str], result(str)),
}

export const namespaces: ReadonlySet<string> = new Set(Object.keys(namespaced).map((name) => name.split('.')[0] ?? ''))

const of = (type: Type): Type => ('of' in type ? type.of : unknown)
const resultOf = (ir: Ir | undefined): Type => (ir?.type.kind === 'function' ? ir.type.result : unknown)

type Methods = Readonly<Record<string, (receiver: Type) => Signature>>

const listMethods: Methods = {
  len: () => takes([], int),
  is_empty: () => takes([], bool),
  append: (receiver) => takes([of(receiver)], (args) => grown(receiver, args)),
  push: (receiver) => takes([of(receiver)], (args) => grown(receiver, args)),
  get: (receiver) => takes([int], option(of(receiver))),
  first: (receiver) => takes([], option(of(receiver))),
  last: (receiver) => takes([], option(of(receiver))),
  contains: (receiver) => takes([of(receiver)], bool),
  join: () => takes([str], str, 1),
  map: (receiver) => takes([fn([of(receiver)], unknown)], (args) => list(resultOf(args[0]))),
  filter: (receiver) => takes([fn([of(receiver)], bool)], receiver),
  reverse: (receiver) => takes([], receiver),
}

/** A list declared empty gets its element type from the first item appended. */
const grown = (receiver: Type, [item]: readonly Ir[]): Type =>
  of(receiver).kind === 'unknown' && item !== undefined ? list(item.type) : receiver

const strMethods: Methods = {
  len: () => takes([], int),
  is_empty: () => takes([], bool),
  contains: () => takes([str], bool),
  starts_with: () => takes([str], bool),
  ends_with: () => takes([str], bool),
  trim: () => takes([], str),
  to_upper: () => takes([], str),
  to_lower: () => takes([], str),
  replace: () => takes([str, str], str),
  split: () => takes([str], list(str)),
  slice: () => takes([int, int], str, 1),
  char_at: () => takes([int], str),
  index_of: () => takes([str], int),
  repeat: () => takes([int], str),
}

const optionMethods: Methods = {
  is_some: () => takes([], bool),
  is_none: () => takes([], bool),
  unwrap: (receiver) => takes([], of(receiver)),
  unwrap_or: (receiver) => takes([of(receiver)], of(receiver)),
}

const okOf = (type: Type): Type => (type.kind === 'result' ? type.ok : unknown)

const resultMethods: Methods = {
  is_ok: () => takes([], bool),
  is_err: () => takes([], bool),
  unwrap: (receiver) => takes([], okOf(receiver)),
  unwrap_or: (receiver) => takes([okOf(receiver)], okOf(receiver)),
}

const mapMethods: Methods = {
  get: (receiver) => takes([str], option(of(receiver))),
  keys: () => takes([], list(str)),
  len: () => takes([], int),
  contains: () => takes([str], bool),
}

const jsonMethods: Methods = {
  get_str: () => takes([str], result(str)),
  get_int: () => takes([str], result(int)),
  get_float: () => takes([str], result(float)),
  get_bool: () => takes([str], result(bool)),
  get_object: () => takes([str], result(json)),
  get_array: () => takes([str], result(json)),
  at: () => takes([int], result(json)),
  length: () => takes([], int),
  is_null: () => takes([], bool),
  to_string: () => takes([], str),
}

const requestMethods: Methods = {
  json: () => takes([], result(json)),
  text: () => takes([], str),
  query: () => takes([str], option(str)),
  param: () => takes([str], option(str)),
  header: () => takes([str], option(str)),
}

export const methods: Readonly<Record<MethodFamily, Methods>> = {
  list: listMethods,
  str: strMethods,
  option: optionMethods,
  result: resultMethods,
  map: mapMethods,
  json: jsonMethods,
  request: requestMethods,
}

const families: Partial<Record<Type['kind'], MethodFamily>> = {
  list: 'list',
  set: 'list',
  str: 'str',
  option: 'option',
  result: 'result',
  map: 'map',
  json: 'json',
  request: 'request',
}

export const familyOf = ({kind}: Type): MethodFamily | undefined => families[kind]
