import {conversions, type FieldType, show, type Type, type Visitor, visitSome} from '../check/index.js'
import {distinct} from './equality.js'
import {InexactNumber} from './json-text.js'
import {lazy} from './lazy.js'
import {Err, expectedText, fromJson, isObject, isText, type Objects, Ok, Unstorable, type Value} from './value.js'

/** A JSON value of the wrong type. */
export class TypeMismatch extends Error {
  readonly expected: string
  constructor(expected: string) {
    super(`expected ${expected}`)
    this.expected = expected
  }
}

export type Decoder = (json: unknown) => Value

const decimal = /^-?\d+(\.\d+)?$/

/**
 * Creates a decoder from JSON to values of a type.
 * @throws TypeMismatch
 */
export function decoder(type: Type): Decoder {
  const refuse = (): never => {
    throw new TypeMismatch(show(type))
  }
  return visitSome(type, decoders, refuse, () => refuse)
}

const decoders: Partial<Visitor<Type, Decoder, () => never>> = {
  int: decodeInteger,
  id: decodeInteger,
  float: (_, refuse) => (json) => {
    const value = json instanceof InexactNumber ? json.value : json
    return typeof value === 'number' && Number.isFinite(value) ? value : refuse()
  },
  bool: (_, refuse) => (json) => (typeof json === 'boolean' ? json : refuse()),
  str: (_, refuse) => (json) => (typeof json === 'string' ? storableText(json) : refuse()),
  dec: (_, refuse) => (json) => (typeof json === 'string' && decimal.test(json) ? json : refuse()),
  date: decodeTime('Date'),
  datetime: decodeTime('DateTime'),
  duration: decodeTime('Duration'),
  bytes: (_, refuse) => (json) => {
    const bytes = typeof json === 'string' ? Buffer.from(json, 'base64') : undefined
    // Any other text with the same bytes would not be equal to the one that is sent back.
    return bytes?.toString('base64') === json ? (bytes ?? refuse()) : refuse()
  },
  list: ({of}, refuse) => decodeItems(of, refuse),
  set: ({of}, refuse) => {
    const items = decodeItems(of, refuse)
    const toSet = later(() => distinct(of))
    return (json) => toSet(items(json))
  },
  map: ({of}, refuse) => {
    const item = later(() => decoder(of))
    const entry = ([key, each]: [string, unknown]) => [storableText(key), item(each)] as const
    return (json) => (isJsonObject(json) ? new Map(Object.entries(json).map(entry)) : refuse())
  },
  tuple: (type, refuse) => {
    const items = type.items.map((each) => decoder(each))
    return (json) =>
      Array.isArray(json) && json.length === items.length ? items.map((item, i) => item(json[i])) : refuse()
  },
  option: ({of}) => {
    const some = later(() => decoder(of))
    return (json) => (json === null || json === undefined ? null : some(json))
  },
  record: ({record}, refuse) => fields(record.fields, refuse),
  row: ({table}, refuse) => fields([table.id, ...table.columns], refuse),
  sum: ({sum}, refuse) => variants(sum.variants, refuse),
  result: (type, refuse) => {
    const [ok, error] = [later(() => decoder(type.ok)), later(() => decoder(type.error))]
    return (json) => {
      if (!isJsonObject(json)) return refuse()
      if (json._tag === 'Ok') return new Ok(ok(json.value))
      return json._tag === 'Error' ? new Err(error(json.value)) : refuse()
    }
  },
  unit: (_, refuse) => (json) => (json === null || json === undefined ? undefined : refuse()),
  json: () => decodeJson,
  unknown: () => (json) => json,
}

/** Dates, times and durations get the text that their equal values have. */
function decodeTime(name: string) {
  const {read} = conversions[name] as {read(text: string): string | undefined}
  return (_: Type, refuse: () => never): Decoder =>
    (json) =>
      (typeof json === 'string' ? read(json) : undefined) ?? refuse()
}

function decodeInteger(_: Type, refuse: () => never): Decoder {
  return (json) => (Number.isSafeInteger(json) ? json : refuse())
}

function decodeItems(of: Type, refuse: () => never): (json: unknown) => Value[] {
  const item = later(() => decoder(of))
  return (json) => (Array.isArray(json) ? json.map((each) => item(each)) : refuse())
}

function decodeJson(json: unknown): Value {
  try {
    return fromJson(json)
  } catch (error) {
    if (error instanceof Unstorable) throw new TypeMismatch(error.expected)
    throw error
  }
}

const isJsonObject = (json: unknown): json is Objects => isObject(json) && !(json instanceof InexactNumber)

/** @throws TypeMismatch if the text cannot be stored unchanged */
function storableText(text: string): string {
  if (isText(text)) return text
  throw new TypeMismatch(expectedText)
}

/** Calls a function that is created on first use. */
function later<V, R>(make: () => (value: V) => R): (value: V) => R {
  const made = lazy(make)
  return (value) => made()(value)
}

function fields(types: readonly FieldType[], refuse: () => never, tag?: string): Decoder {
  const decoders = types.map(({name, type}) => [name, later(() => decoder(type)), type.kind === 'option'] as const)
  const known = new Set(types.map(({name}) => name))
  return (json) => {
    if (!isJsonObject(json)) return refuse()
    for (const key in json) if (!known.has(key) && !(key === '_tag' && tag !== undefined)) return refuse()
    const value: Record<string, Value> = tag === undefined ? {} : {_tag: tag}
    for (const [name, decode, optional] of decoders) {
      if (!optional && !Object.hasOwn(json, name)) return refuse()
      value[name] = decode(Object.hasOwn(json, name) ? json[name] : null)
    }
    return value
  }
}

function variants(types: readonly {name: string; fields: readonly FieldType[]}[], refuse: () => never): Decoder {
  const byTag = new Map(types.map((variant) => [variant.name, fields(variant.fields, refuse, variant.name)]))
  return (json) => {
    const tag = isJsonObject(json) ? (json as Objects)._tag : undefined
    const decode = typeof tag === 'string' ? byTag.get(tag) : undefined
    return decode === undefined ? refuse() : decode(json)
  }
}
