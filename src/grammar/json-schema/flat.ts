import {not} from '../pattern/build.js'
import {decimal} from './decimal.js'
import type {JsonObject, Subschema} from './document.js'
import {formatPattern, unenforcedFormats} from './formats.js'
import {type JsonType, jsonTypes, unsupported} from './keywords.js'
import {anyNumber, type NumberShape, narrowMax, narrowMin, narrowMultiple, narrowValues} from './numbers.js'
import {patternOf} from './patterns.js'
import {anyString, excludeStrings, narrowLength, narrowPattern, narrowStrings, type StringShape} from './strings.js'

/** A subschema that a value must satisfy without its combinators: `allOf`, `anyOf`, references and the like. */
export interface Leaf {
  readonly schema: Subschema
  /** Ids of the subschemas that this one is applied for, at the same value: what it evaluates, they evaluate. */
  readonly evaluatesFor: ReadonlySet<number>
  /** Positions of the keywords and their parts that lead to this subschema: the order of its properties among others. */
  readonly place: readonly number[]
}

/** A conjunction of subschemas without alternatives. */
export interface Flat {
  readonly leaves: readonly Leaf[]
  readonly types: ReadonlySet<JsonType>
  readonly booleans: readonly boolean[]
  readonly number: NumberShape
  readonly string: StringShape
}

export const anyValue: Flat = {
  leaves: [],
  types: new Set(jsonTypes),
  booleans: [true, false],
  number: anyNumber,
  string: anyString,
}

export const typeOf = (value: unknown): JsonType =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as JsonType)

/** The lists of values of which a value must be in each: that of `const`, that of `enum`. */
export const valueLists = ({const: only, enum: values}: JsonObject): readonly (readonly unknown[])[] => [
  ...(only === undefined ? [] : [[only]]),
  ...(Array.isArray(values) ? [values] : []),
]

/** The conjunction with what a subschema requires of scalars; objects and arrays are read from its leaves. */
export function withLeaf(flat: Flat, leaf: Leaf): Flat {
  const {keywords} = leaf.schema
  const merged: Flat = {
    leaves: [...flat.leaves, leaf],
    types: typesOf(flat.types, keywords),
    booleans: flat.booleans,
    number: numberOf(flat.number, keywords),
    string: stringOf(flat.string, leaf.schema),
  }
  const excluded = keywords['svc excluded']
  const narrowed = valueLists(keywords).reduce(withValues, merged)
  return Array.isArray(excluded) ? without(narrowed, excluded) : narrowed
}

function typesOf(types: ReadonlySet<JsonType>, {type}: JsonObject): ReadonlySet<JsonType> {
  if (type === undefined) return types
  const names = new Set([type].flat().map((name) => (name === 'integer' ? 'number' : name)))
  return new Set([...types].filter((each) => names.has(each)))
}

/** Values of an enumeration that are scalars; others have been replaced by schemas. */
function withValues(flat: Flat, values: readonly unknown[]): Flat {
  const types = new Set(values.map(typeOf))
  return {
    ...flat,
    types: new Set([...flat.types].filter((type) => types.has(type))),
    booleans: flat.booleans.filter((value) => values.includes(value)),
    number: narrowValues(
      flat.number,
      values.filter((value) => typeof value === 'number'),
    ),
    string: narrowStrings(
      flat.string,
      values.filter((value) => typeof value === 'string'),
    ),
  }
}

function without(flat: Flat, values: readonly unknown[]): Flat {
  return {
    ...flat,
    types: new Set([...flat.types].filter((type) => type !== 'null' || !values.includes(null))),
    booleans: flat.booleans.filter((value) => !values.includes(value)),
    number: {
      ...flat.number,
      excluded: [...flat.number.excluded, ...values.filter((value) => typeof value === 'number')],
    },
    string: excludeStrings(
      flat.string,
      values.filter((value) => typeof value === 'string'),
    ),
  }
}

function numberOf(shape: NumberShape, keywords: JsonObject): NumberShape {
  const types = [keywords.type].flat()
  let number = shape
  if (types.includes('integer') && !types.includes('number')) number = {...number, integer: true}
  if (keywords['svc fractional'] === true) number = {...number, fractional: true}
  const {minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf} = keywords
  // In draft 4, the exclusive bounds are booleans.
  if (typeof minimum === 'number') {
    number = narrowMin(number, {value: decimal(minimum), exclusive: exclusiveMinimum === true})
  }
  if (typeof maximum === 'number') {
    number = narrowMax(number, {value: decimal(maximum), exclusive: exclusiveMaximum === true})
  }
  if (typeof exclusiveMinimum === 'number')
    number = narrowMin(number, {value: decimal(exclusiveMinimum), exclusive: true})
  if (typeof exclusiveMaximum === 'number')
    number = narrowMax(number, {value: decimal(exclusiveMaximum), exclusive: true})
  return typeof multipleOf === 'number' ? narrowMultiple(number, multipleOf) : number
}

function stringOf(shape: StringShape, schema: Subschema): StringShape {
  const {
    minLength,
    maxLength,
    pattern,
    format,
    'svc otherPattern': otherPattern,
    'svc otherFormat': otherFormat,
  } = schema.keywords
  let string = shape
  if (minLength !== undefined || maxLength !== undefined) {
    string = narrowLength(string, (minLength as number) ?? 0, (maxLength as number) ?? Number.POSITIVE_INFINITY)
  }
  if (pattern !== undefined) string = narrowPattern(string, patternOf(schema, 'pattern', pattern as string))
  if (otherPattern !== undefined)
    string = narrowPattern(string, not(patternOf(schema, 'pattern', otherPattern as string)))
  if (unenforcedFormats.has(format)) throw unsupported(schema, 'format', `${format} is not a regular language`)
  const required = formatPattern(format)
  const other = formatPattern(otherFormat)
  if (required !== undefined) string = narrowPattern(string, required)
  return other === undefined ? string : narrowPattern(string, not(other))
}
