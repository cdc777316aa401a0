import {type Fault, type Signature, takes} from './builtin.js'
import type {Ir, MethodFamily} from './ir.js'
import {regexNamespaced} from './regex.js'
import {timeFunctions, timeMethods, timeNamespaced} from './time-builtins.js'
import {
  bool,
  dec,
  float,
  fn,
  int,
  isNumber,
  isOrdered,
  isUnknown,
  join,
  json,
  list,
  map,
  option,
  result,
  show,
  str,
  type Type,
  unit,
  unknown,
} from './types.js'

/** Global functions. */
export const functions: Readonly<Record<string, Signature>> = {
  len: takes([unknown], int),
  str: takes([unknown], str),
  to_string: takes([unknown], str),
  int: takes([unknown], int),
  float: takes([unknown], float),
  dec: takes([unknown], dec),
  range: takes([int, int], list(int)),
  print: takes([unknown], unit),
  assert: takes([bool, str], unit, 1),
  ...timeFunctions,
}

const logLevels = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, takes([unknown], unit)]))
const prefixed = (prefix: string, table: Readonly<Record<string, Signature>>) =>
  Object.fromEntries(Object.entries(table).map(([name, signature]) => [`${prefix}.${name}`, signature]))

const isPlainNumber = ({kind}: Type) => kind === 'int' || kind === 'float' || kind === 'unknown'

function numbers(args: readonly Ir[]): Fault | undefined {
  const strange = args.find(({type}) => !isPlainNumber(type))
  return strange && {needs: 'an int or a float', found: strange.type}
}

/** Of `min` and `max`: two values of one type that has an order. */
function comparable([a, b]: readonly Ir[]): Fault | undefined {
  if (a === undefined || b === undefined) return undefined
  if (!isOrdered(a.type)) return {needs: 'values that can be ordered', found: a.type}
  return join(a.type, b.type) === undefined ? {needs: `another ${show(a.type)}`, found: b.type} : undefined
}

const common = ([a, b]: readonly Ir[]): Type => join(a?.type ?? unknown, b?.type ?? unknown) ?? unknown

/** Functions in namespaces, by their full name. */
export const namespaced: Readonly<Record<string, Signature>> = {
  'std.time.now_ms': takes([], int),
  ...timeNamespaced,
  'std.math.abs': {...takes([unknown], ([x]) => x?.type ?? unknown), fault: numbers},
  'std.math.min': {...takes([unknown, unknown], common), fault: comparable},
  'std.math.max': {...takes([unknown, unknown], common), fault: comparable},
  'std.math.floor': takes([float], int),
  'std.math.ceil': takes([float], int),
  'std.math.sqrt': takes([float], float),
  'std.math.pow': takes([float, float], float),
  'std.math.exp': takes([float], float),
  'std.math.log': takes([float], float),
  'std.crypto.uuid': takes([], str),
  'std.crypto.hash_secure': takes([str], str),
  'std.crypto.hash_password': takes([str], str),
  'std.crypto.verify_password': takes([str, str], bool),
  'std.random.int': takes([int, int], int),
  'std.random.float': takes([], float),
  'std.random.token': takes([int], str),
  'std.random.choice': takes([list(unknown)], ([items]) => option(items === undefined ? unknown : of(items.type))),
  'std.random.shuffle': takes([list(unknown)], ([items]) => list(items === undefined ? unknown : of(items.type))),
  ...regexNamespaced,
  'std.json.parse': takes([str], result(json)),
  'int.parse': takes([str], result(int)),
  'float.parse': takes([str], result(float)),
  'dec.parse': takes([str], result(dec)),
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

/** A method of lists whose items have a certain kind of type. */
const forItems =
  (isSuitable: (of: Type) => boolean, needs: string, signature: (of: Type) => Signature) =>
  (receiver: Type): Signature => {
    const fault = isSuitable(of(receiver)) ? {} : {fault: () => ({needs, found: receiver})}
    return {...signature(of(receiver)), ...fault}
  }

const orderedItems = 'items that can be ordered'
const isTotal = (type: Type) => isNumber(type) || type.kind === 'dec' || type.kind === 'duration' || isUnknown(type)
/** The type of the mean of values. */
export const meanOf = (type: Type): Type => (type.kind === 'dec' || type.kind === 'duration' ? type : float)

const isKey = (type: Type) => ['str', 'int', 'id', 'bool', 'date', 'datetime', 'unknown', 'never'].includes(type.kind)

const listMethods: Methods = {
  len: () => takes([], int),
  is_empty: () => takes([], bool),
  append: (receiver) => takes([of(receiver)], (args) => grown(receiver, args)),
  push: (receiver) => takes([of(receiver)], (args) => grown(receiver, args)),
  concat: (receiver) => takes([list(of(receiver))], ([others]) => concatenated(receiver, others?.type ?? unknown)),
  get: (receiver) => takes([int], option(of(receiver))),
  first: (receiver) => takes([], option(of(receiver))),
  last: (receiver) => takes([], option(of(receiver))),
  slice: (receiver) => takes([int, int], list(of(receiver)), 1),
  set: (receiver) => takes([int, of(receiver)], list(of(receiver))),
  contains: (receiver) => takes([of(receiver)], bool),
  index_of: (receiver) => takes([of(receiver)], int),
  take: (receiver) => takes([int], list(of(receiver))),
  skip: (receiver) => takes([int], list(of(receiver))),
  join: () => takes([str], str, 1),
  map: (receiver) => takes([fn([of(receiver)], unknown)], (args) => list(resultOf(args[0]))),
  flat_map: (receiver) => takes([fn([of(receiver)], list(unknown))], (args) => list(of(resultOf(args[0])))),
  filter: (receiver) => takes([fn([of(receiver)], bool)], receiver),
  find: (receiver) => takes([fn([of(receiver)], bool)], option(of(receiver))),
  any: (receiver) => takes([fn([of(receiver)], bool)], bool),
  count: (receiver) => takes([fn([of(receiver)], bool)], int),
  all: (receiver) => takes([fn([of(receiver)], bool)], bool),
  reduce: (receiver) => ({
    params: [fn([unknown, of(receiver)], unknown), unknown],
    given: ([, initial]) => reducer(initial?.type ?? unknown, of(receiver)),
    result: ([reduced, initial]) => join(initial?.type ?? unknown, resultOf(reduced)) ?? unknown,
  }),
  reverse: (receiver) => takes([], receiver),
  zip: (receiver) =>
    takes([list(unknown)], ([others]) =>
      list({kind: 'tuple', items: [of(receiver), others === undefined ? unknown : of(others.type)]}),
    ),
  sum: forItems(isTotal, 'numbers', (item) => takes([], item.kind === 'id' ? int : item)),
  avg: forItems(isTotal, 'numbers', (item) => takes([], option(meanOf(item)))),
  min: forItems(isOrdered, orderedItems, (item) => takes([], option(item))),
  max: forItems(isOrdered, orderedItems, (item) => takes([], option(item))),
  sort: forItems(isOrdered, orderedItems, (item) => takes([], list(item))),
  min_by: (receiver) => byKey(receiver, option(of(receiver))),
  max_by: (receiver) => byKey(receiver, option(of(receiver))),
  sort_by: (receiver) => byKey(receiver, list(of(receiver))),
  distinct: (receiver) => takes([], list(of(receiver))),
  intersection: (receiver) => takes([list(of(receiver))], receiver),
  difference: (receiver) => takes([list(of(receiver))], receiver),
  to_map: forItems(isPair, 'pairs of a str and a value', (item) =>
    takes([], map(item.kind === 'tuple' ? (item.items[1] ?? unknown) : unknown)),
  ),
  to_set: (receiver) => takes([], {kind: 'set', of: of(receiver)}),
  group_by: (receiver) => ({
    ...takes([fn([of(receiver)], unknown)], map(list(of(receiver)))),
    fault: ([key]) => unlessKey(isKey, 'a key of type str, int, bool, Date or DateTime', resultOf(key)),
  }),
}

/** Whether a type is that of an entry of a map. */
function isPair(type: Type): boolean {
  if (type.kind !== 'tuple') return isUnknown(type)
  const [key] = type.items
  return type.items.length === 2 && (key?.kind === 'str' || key?.kind === 'unknown')
}

const byKey = (receiver: Type, result: Type): Signature => ({
  ...takes([fn([of(receiver)], unknown)], result),
  fault: ([key]) => unlessKey(isOrdered, 'a key that can be ordered', resultOf(key)),
})

const unlessKey = (isSuitable: (type: Type) => boolean, needs: string, found: Type): Fault | undefined =>
  isSuitable(found) ? undefined : {needs, found}

/** The parameters of `reduce`; the result of an empty list, whose items are unknown, is inferred. */
function reducer(initial: Type, item: Type): Type[] {
  const isOpen = 'of' in initial && isUnknown(initial.of)
  return [fn([initial, item], isOpen ? unknown : initial), unknown]
}

/** The type of two lists joined by `+`: a set if the first is a set. */
export function concatenated(receiver: Type, others: Type): Type {
  const item = join(of(receiver), of(others)) ?? of(receiver)
  return receiver.kind === 'set' ? {kind: 'set', of: item} : list(item)
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
  trim_start: () => takes([], str),
  trim_end: () => takes([], str),
  pad_start: () => takes([int, str], str, 1),
  pad_end: () => takes([int, str], str, 1),
  to_upper: () => takes([], str),
  to_lower: () => takes([], str),
  replace: () => takes([str, str], str),
  split: () => takes([str], list(str)),
  slice: () => takes([int, int], str, 1),
  char_at: () => takes([int], str),
  index_of: () => takes([str], int),
  repeat: () => takes([int], str),
}

/** `round(places, mode)`: 0 places, and half to even, by default. */
const rounded = (type: Type): Signature => ({
  ...takes([int, str], type, 2),
  fault: ([, mode]) => {
    const isUnknownMode = mode?.kind === 'const' && !roundingModes.some((each) => each === mode.value)
    return isUnknownMode ? {needs: `the mode ${roundingModes.join(', ')}`, found: `'${mode.value}'`} : undefined
  },
})

/** How a digit that is cut off changes the last one: to the nearest, and of two to the even one or away from 0; never. */
export const roundingModes = ['half_even', 'half_up', 'down'] as const
export type RoundingMode = (typeof roundingModes)[number]

const optionMethods: Methods = {
  is_some: () => takes([], bool),
  is_none: () => takes([], bool),
  unwrap: (receiver) => takes([], of(receiver)),
  unwrap_or: (receiver) => takes([of(receiver)], of(receiver)),
  map: (receiver) => takes([fn([of(receiver)], unknown)], ([mapped]) => option(resultOf(mapped))),
  or_else: (receiver) => takes([fn([], receiver)], ([other]) => join(receiver, resultOf(other)) ?? receiver),
  ok_or: (receiver) => takes([unknown], ([error]) => result(of(receiver), error?.type ?? unknown)),
}

const okOf = (type: Type): Type => (type.kind === 'result' ? type.ok : unknown)
const errorOf = (type: Type): Type => (type.kind === 'result' ? type.error : unknown)

const resultMethods: Methods = {
  is_ok: () => takes([], bool),
  is_err: () => takes([], bool),
  unwrap: (receiver) => takes([], okOf(receiver)),
  unwrap_or: (receiver) => takes([okOf(receiver)], okOf(receiver)),
  map: (receiver) => takes([fn([okOf(receiver)], unknown)], ([mapped]) => result(resultOf(mapped), errorOf(receiver))),
  map_err: (receiver) =>
    takes([fn([errorOf(receiver)], unknown)], ([mapped]) => result(okOf(receiver), resultOf(mapped))),
  ok: (receiver) => takes([], option(okOf(receiver))),
}

const mapMethods: Methods = {
  get: (receiver) => takes([str], option(of(receiver))),
  keys: () => takes([], list(str)),
  values: (receiver) => takes([], list(of(receiver))),
  entries: (receiver) => takes([], list({kind: 'tuple', items: [str, of(receiver)]})),
  len: () => takes([], int),
  is_empty: () => takes([], bool),
  contains: () => takes([str], bool),
  set: (receiver) => takes([str, of(receiver)], ([, item]) => withItem(receiver, item)),
  with: (receiver) => takes([str, of(receiver)], ([, item]) => withItem(receiver, item)),
  remove: (receiver) => takes([str], receiver),
  merge: (receiver) => takes([receiver], receiver),
  filter: (receiver) => takes([fn([str, of(receiver)], bool)], receiver),
  map_values: (receiver) => takes([fn([of(receiver)], unknown)], (args) => map(resultOf(args[0]))),
}

/** A map declared empty gets the type of its values from the first one. */
const withItem = (receiver: Type, item: Ir | undefined): Type =>
  of(receiver).kind === 'unknown' && item !== undefined ? map(item.type) : receiver

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
  int: {abs: () => takes([], int)},
  float: {abs: () => takes([], float), round: () => rounded(float)},
  dec: {abs: () => takes([], dec), round: () => rounded(dec)},
  option: optionMethods,
  result: resultMethods,
  map: mapMethods,
  json: jsonMethods,
  request: requestMethods,
  ...timeMethods,
}

const families: Partial<Record<Type['kind'], MethodFamily>> = {
  list: 'list',
  set: 'list',
  str: 'str',
  int: 'int',
  float: 'float',
  dec: 'dec',
  option: 'option',
  result: 'result',
  map: 'map',
  json: 'json',
  request: 'request',
  date: 'date',
  datetime: 'datetime',
  duration: 'duration',
}

export const familyOf = ({kind}: Type): MethodFamily | undefined => families[kind]
