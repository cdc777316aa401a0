import {hasMembers} from './json-members.js'
import {type Column, isComparable, isNumber, isScalar, isTime, type Type} from './types.js'

export const operators = [
  ...(['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'between', 'in', 'contains', 'starts_with', 'is_null'] as const),
  ...(['matches', 'near'] as const),
]
export type Operator = (typeof operators)[number]

const isOrdered = (type: Type) => isNumber(type) || type.kind === 'str' || type.kind === 'dec' || isTime(type)
const isText = (type: Type) => type.kind === 'str'
export const elementOf = (type: Type): Type | undefined =>
  (type.kind === 'list' || type.kind === 'set') && isScalar(type.of) ? type.of : undefined

/** The column types that each operator supports. */
export const applies: Readonly<Record<Operator, (type: Type) => boolean>> = {
  eq: isComparable,
  neq: isComparable,
  lt: isOrdered,
  lte: isOrdered,
  gt: isOrdered,
  gte: isOrdered,
  between: isOrdered,
  in: isComparable,
  contains: (type) => isText(type) || elementOf(type) !== undefined,
  starts_with: isText,
  is_null: () => true,
  matches: isText,
  near: (type) => type.kind === 'bytes' || (type.kind === 'list' && type.of.kind === 'float'),
}

/** The column of the row that an id refers to, unless the name is an operator. */
export function refersTo({base}: Column, name: string): Column | undefined {
  if (base.kind !== 'id' || operators.includes(name as Operator)) return undefined
  const {table} = base
  return name === '_id' ? table.id : table.columns.find((column) => column.name === name)
}

export const isMember = (column: Column, name: string) => hasMembers(column) && !operators.includes(name as Operator)

/** Operators that do not apply to members of JSON: those that need an index, a known type, or an order of durations. */
export function isUnusable(operator: Operator, {base, within}: Column): boolean {
  if (operator === 'matches' || operator === 'near' || base.kind === 'bytes') return true
  if (operator === 'contains') return within?.isUntyped === true
  return base.kind === 'duration' && ['lt', 'lte', 'gt', 'gte', 'between'].includes(operator)
}

/** Operators of Prisma, Mongo and SQL, and what to write instead. */
const foreignOperators: Readonly<Record<string, string>> = {
  '=': 'eq',
  '==': 'eq',
  equals: 'eq',
  '!=': 'neq',
  '<>': 'neq',
  not: 'neq',
  ne: 'neq',
  '<': 'lt',
  '<=': 'lte',
  le: 'lte',
  '>': 'gt',
  '>=': 'gte',
  ge: 'gte',
  like: 'contains or starts_with',
  ilike: 'contains',
  includes: 'contains',
  has: 'contains',
  search: 'matches',
  startswith: 'starts_with',
  startsWith: 'starts_with',
  one_of: 'in',
  any: 'in',
}

export const foreignOperator = (name: string): string | undefined =>
  Object.hasOwn(foreignOperators, name) ? foreignOperators[name] : undefined
