import {isEqualByValue, isUnknown, option, type Type, type Visitor, visitSome} from '../check/index.js'
import {decimalKey} from './decimal.js'
import {lazy} from './lazy.js'
import {asMap, Err, isObject, jsonNull, Ok, type Value} from './value.js'

/** Converts a value to one with a canonical JSON text: equal values have equal texts. */
type Canonical = (value: Value) => unknown

/**
 * The hash of values of a type: equal values, and no others, have equal hashes. Decimals are equal by value, sets in any
 * order, and an absent field is None. The only definition of equality.
 */
export function hasher(type: Type): (value: Value) => string | number | boolean {
  const canonical = canonicalOf(type)
  return (value) => {
    const found = canonical(value)
    return typeof found === 'number' || typeof found === 'boolean' ? found : JSON.stringify(found)
  }
}

/** Types whose values are equal if they are identical. */
const plain: ReadonlySet<string> = new Set('int id float bool str date datetime duration'.split(' '))

/** The operator `is` for values of two comparable types. */
export function equality(a: Type, b: Type = a): (a: Value, b: Value) => boolean {
  const type = commonType(a, b)
  if (plain.has(type.kind)) return (first, second) => first === second
  const hash = hasher(type)
  // Of different strings and numbers, only decimals can be equal.
  const isDecided = isEqualByValue(type)
    ? () => false
    : (value: Value) => typeof value === 'string' || typeof value === 'number'
  return (first, second) =>
    first === second || (!(isDecided(first) && isDecided(second)) && hash(first) === hash(second))
}

/** Removes repeated items, and keeps the first of each. */
export function distinct(of: Type): (items: readonly Value[]) => Value[] {
  const hash = hasher(of)
  return (items) => {
    const byHash = new Map<unknown, Value>()
    for (const item of items) {
      const found = hash(item)
      if (!byHash.has(found)) byHash.set(found, item)
    }
    return [...byHash.values()]
  }
}

/** The more specific of two comparable types, in each of their parts. */
function commonType(a: Type, b: Type): Type {
  if (a === b || isUnknown(b)) return a
  if (isUnknown(a)) return b
  if (a.kind === 'option' || b.kind === 'option')
    return option(commonType(a.kind === 'option' ? a.of : a, b.kind === 'option' ? b.of : b))
  if (isItems(a) && isItems(b))
    return {kind: a.kind === 'set' || b.kind === 'set' ? 'set' : 'list', of: commonType(a.of, b.of)}
  if (a.kind === 'map' && b.kind === 'map') return {kind: 'map', of: commonType(a.of, b.of)}
  if (a.kind === 'tuple' && b.kind === 'tuple')
    return {kind: 'tuple', items: a.items.map((item, i) => commonType(item, b.items[i] ?? item))}
  if (a.kind === 'result' && b.kind === 'result')
    return {kind: 'result', ok: commonType(a.ok, b.ok), error: commonType(a.error, b.error)}
  if (a.kind === 'object' && b.kind === 'object')
    return {
      kind: 'object',
      fields: new Map([...a.fields].map(([name, type]) => [name, commonType(type, b.fields.get(name) ?? type)])),
    }
  return a.kind === 'object' || b.kind === 'json' ? b : a
}

const isItems = (type: Type): type is Type & {kind: 'list' | 'set'} => type.kind === 'list' || type.kind === 'set'

const canonicalOf = (type: Type): Canonical => visitSome(type, canonicals, undefined, () => untyped)

const canonicals: Partial<Visitor<Type, Canonical, undefined>> = {
  dec: () => (value) => (typeof value === 'string' ? ['dec', decimalKey(value)] : untyped(value)),
  option: ({of}) => {
    const some = canonicalOf(of)
    return (value) => (value === null || value === undefined ? null : some(value))
  },
  list: ({of}) => {
    const item = canonicalOf(of)
    return (value) => (Array.isArray(value) ? ['list', ...value.map((each) => item(each))] : untyped(value))
  },
  set: ({of}) => {
    const hash = hasher(of)
    return (value) => (Array.isArray(value) ? ['set', ...[...new Set(value.map(hash))].sort()] : untyped(value))
  },
  map: ({of}) => {
    const item = canonicalOf(of)
    return (value) =>
      isObject(value) || value instanceof Map ? members([...asMap(value)], () => item) : untyped(value)
  },
  tuple: ({items}) => {
    const all = items.map(canonicalOf)
    return (value) =>
      Array.isArray(value) ? ['list', ...value.map((each, i) => (all[i] ?? untyped)(each))] : untyped(value)
  },
  result: ({ok, error}) => {
    const [value, fault] = [canonicalOf(ok), canonicalOf(error)]
    return (found) => {
      if (found instanceof Ok) return ['Ok', value(found.value)]
      return found instanceof Err ? ['Error', fault(found.value)] : untyped(found)
    }
  },
  record: ({record}) => fieldsOf(() => record.fields),
  row: ({table}) => fieldsOf(() => [table.id, ...table.columns]),
  object: ({fields}) => fieldsOf(() => [...fields].map(([name, type]) => ({name, type}))),
  sum: ({sum}) => {
    const byTag = lazy(() => new Map(sum.variants.map(({name, fields}) => [name, fieldsOf(() => fields)])))
    return (value) => ((isObject(value) && byTag().get(String(value._tag))) || untyped)(value)
  },
}

function fieldsOf(fields: () => readonly {name: string; type: Type}[]): Canonical {
  const byName = lazy(() => new Map(fields().map(({name, type}) => [name, canonicalOf(type)])))
  return (value) =>
    isObject(value) ? members(Object.entries(value), (name) => byName().get(name) ?? untyped) : untyped(value)
}

const members = (entries: readonly (readonly [string, Value])[], of: (name: string) => Canonical) => [
  'members',
  ...entries
    .filter(([, value]) => value !== null && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, of(name)(value)]),
]

/** A value of unknown type, or of a type without an equality of its own. */
function untyped(value: Value): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : ['number', String(value)]
    case 'function':
      return ['function', identityOf(value)]
    case 'undefined':
      return ['Unit']
    case 'object':
      return value === null ? null : untypedObject(value)
    default:
      return value === jsonNull ? ['null'] : value
  }
}

function untypedObject(value: object): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(untyped)]
  if (value instanceof Ok) return ['Ok', untyped(value.value)]
  if (value instanceof Err) return ['Error', untyped(value.value)]
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('base64')]
  return members([...asMap(value)], () => untyped)
}

const identities = new WeakMap<object, number>()
let nextIdentity = 0

/** A function is equal only to itself. */
function identityOf(value: object): number {
  const known = identities.get(value)
  if (known !== undefined) return known
  identities.set(value, ++nextIdentity)
  return nextIdentity
}
