import {type Ir, join, type Type, unknown} from '../check/index.js'
import {call} from './call.js'
import type {Context} from './context.js'
import {averageDecimals} from './decimal.js'
import {replaced} from './elements.js'
import {distinct, equality, hasher} from './equality.js'
import {arithmetic} from './operators.js'
import {type Compare, ordering} from './ordering.js'
import {sized} from './size.js'
import {addDurations, averageDurations} from './time.js'
import {display, type Value} from './value.js'

type Items = readonly Value[]
export type ListMethod = (self: Items, args: readonly Value[], context: Context) => Value

/** A method for a receiver and arguments of certain types. */
type MakeMethod = (receiver: Type, args: readonly Ir[]) => ListMethod

const itemOf = (type: Type | undefined): Type => (type !== undefined && 'of' in type ? type.of : unknown)

/** A method that is the same for items of all types. */
const any =
  (method: ListMethod): MakeMethod =>
  () =>
    method

/** A method that creates a list or, of a set, a set. */
const grown =
  (grow: (self: Items, args: readonly Value[]) => Value[]): MakeMethod =>
  (receiver) => {
    const toSet = receiver.kind === 'set' ? distinct(receiver.of) : undefined
    return (self, args, context) => {
      const items = sized(grow(self, args))
      context.items(items.length)
      return toSet === undefined ? items : toSet(items)
    }
  }

const isTrue = (condition: Value, item: Value, context: Context) => call(condition, [item], context) === true

/** The first item that is before all others in an order; None of an empty list. */
const least =
  (orderOf: (of: Type) => Compare): MakeMethod =>
  (receiver) => {
    const compare = orderOf(itemOf(receiver))
    return (self, _, context) => {
      context.items(self.length)
      return self.reduce((best, item) => (compare(item, best) < 0 ? item : best), self[0] ?? null)
    }
  }

const reversed = (of: Type): Compare => {
  const compare = ordering(of)
  return (a, b) => compare(b, a)
}

function sum(receiver: Type): ListMethod {
  const {kind} = itemOf(receiver)
  const mode = kind === 'dec' || kind === 'float' || kind === 'unknown' ? kind : 'int'
  const isDuration = kind === 'duration'
  const add = isDuration ? addDurations : arithmetic('+', mode)
  const zero = isDuration ? 'PT0S' : mode === 'dec' ? '0' : 0
  return (self, _, context) => {
    context.items(self.length)
    return self.reduce(add, zero)
  }
}

function avg(receiver: Type): ListMethod {
  const {kind} = itemOf(receiver)
  return (self, _, context) => {
    context.items(self.length)
    if (self.length === 0) return null
    if (kind === 'dec') return averageDecimals(self as readonly string[])
    if (kind === 'duration') return averageDurations(self)
    return (self as readonly number[]).reduce((total, item) => total + item, 0) / self.length
  }
}

/** Items with their keys, in the order of the keys; equal ones stay in place. */
function sortedBy(keys: readonly Value[], items: Items, compare: Compare, context: Context): Value[] {
  // A comparison costs as much as several copies.
  context.items(items.length * Math.ceil(Math.log2(items.length + 1)) * comparisonCost)
  const places = items.map((_, i) => i)
  return places.sort((a, b) => compare(keys[a], keys[b])).map((i) => items[i])
}
const comparisonCost = 4

/** Comparing and hashing an item cost as much as several copies. */
const hashCost = 16

const keyOf = (key: Ir | undefined): Type => (key?.type.kind === 'function' ? key.type.result : unknown)

function part(self: Items, from: number, until: number | undefined, context: Context): Value[] {
  const items = self.slice(from, until)
  context.items(items.length)
  return items
}

/** The first item whose key is before those of all others. */
const leastBy =
  (compare: Compare): ListMethod =>
  (self, [callable], context) => {
    const keys = self.map((item) => call(callable, [item], context))
    const at = keys.reduce<number>((best, key, i) => (compare(key, keys[best]) < 0 ? i : best), 0)
    return self[at] ?? null
  }

/** The items that another list has, or those that it lacks. */
const shared =
  (isKept: boolean): MakeMethod =>
  (receiver, [others]) => {
    const common = join(itemOf(receiver), itemOf(others?.type)) ?? unknown
    const hash = hasher(common)
    return (self, [other], context) => {
      const items = other as Items
      context.items((self.length + items.length) * hashCost)
      const hashes = new Set(items.map(hash))
      return self.filter((item) => hashes.has(hash(item)) === isKept)
    }
  }

const methods: Readonly<Record<string, MakeMethod>> = {
  len: any((self) => self.length),
  is_empty: any((self) => self.length === 0),
  append: grown((self, [item]) => [...self, item]),
  push: grown((self, [item]) => [...self, item]),
  concat: grown((self, [others]) => [...self, ...(others as Items)]),
  get: any((self, [index]) => self.at(Number(index)) ?? null),
  first: any((self) => self[0] ?? null),
  last: any((self) => self.at(-1) ?? null),
  set: any((self, [index, item], context) => replaced(self, index, item, context)),
  contains: (receiver, [sought]) => {
    const equal = equality(itemOf(receiver), sought?.type ?? unknown)
    return (self, [item]) => self.some((each) => equal(each, item))
  },
  index_of: (receiver, [sought]) => {
    const equal = equality(itemOf(receiver), sought?.type ?? unknown)
    return (self, [item]) => self.findIndex((each) => equal(each, item))
  },
  take: any((self, [count], context) => part(self, 0, Math.max(0, Number(count)), context)),
  skip: any((self, [count], context) => part(self, Math.max(0, Number(count)), undefined, context)),
  join: any((self, [separator = '']) => sized(self.map(display).join(String(separator)))),
  map: any((self, [callable], context) => self.map((item) => call(callable, [item], context))),
  flat_map: any((self, [callable], context) => {
    const items: Value[] = []
    for (const item of self) {
      const part = call(callable, [item], context) as Items
      context.items(part.length)
      for (const each of part) items.push(each)
      sized(items)
    }
    return items
  }),
  filter: any((self, [condition], context) => self.filter((item) => isTrue(condition, item, context))),
  find: any((self, [condition], context) => self.find((item) => isTrue(condition, item, context)) ?? null),
  any: any((self, [condition], context) => self.some((item) => isTrue(condition, item, context))),
  count: any((self, [condition], context) => self.filter((item) => isTrue(condition, item, context)).length),
  all: any((self, [condition], context) => self.every((item) => isTrue(condition, item, context))),
  reduce: any((self, [callable, initial], context) =>
    self.reduce((total, item) => call(callable, [total, item], context), initial),
  ),
  reverse: any((self) => [...self].reverse()),
  slice: any((self, [from, to], context) =>
    part(self, Number(from), to === undefined ? undefined : Number(to), context),
  ),
  zip: any((self, [others], context) => {
    const partners = others as Items
    const pairs = self.slice(0, partners.length).map((item, i) => [item, partners[i]])
    context.items(pairs.length)
    return pairs
  }),
  sum,
  avg,
  min: least(ordering),
  max: least(reversed),
  sort: (receiver) => {
    const compare = ordering(itemOf(receiver))
    return (self, _, context) => sortedBy(self, self, compare, context)
  },
  min_by: (_, [key]) => leastBy(ordering(keyOf(key))),
  max_by: (_, [key]) => leastBy(reversed(keyOf(key))),
  sort_by: (_, [key]) => {
    const compare = ordering(keyOf(key))
    return (self, [callable], context) => {
      const keys = self.map((item) => call(callable, [item], context))
      return sortedBy(keys, self, compare, context)
    }
  },
  distinct: unique,
  intersection: shared(true),
  difference: shared(false),
  to_map: any((self, _, context) => {
    context.items(self.length)
    return new Map(self as readonly [string, Value][])
  }),
  to_set: unique,
  group_by: any((self, [callable], context) => {
    const groups = new Map<string, Value[]>()
    for (const item of self) {
      const key = display(call(callable, [item], context))
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [item])
      else group.push(item)
    }
    return groups
  }),
}

function unique(receiver: Type): ListMethod {
  const toSet = distinct(itemOf(receiver))
  return (self, _, context) => {
    context.items(self.length * hashCost)
    return toSet(self)
  }
}

/** The method of a list or set of a known type. */
export const typedListMethod = (name: string, receiver: Type, args: readonly Ir[]): ListMethod | undefined =>
  Object.hasOwn(methods, name) ? methods[name]?.(receiver, args) : undefined

/** The methods for items whose type is known only at run time. */
export const untypedListMethods: Readonly<Record<string, ListMethod>> = Object.fromEntries(
  Object.entries(methods).map(([name, make]) => [name, make(unknown, [])]),
)
