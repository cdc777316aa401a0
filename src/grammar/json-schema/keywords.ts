import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {isInternal, pointerTo, type Subschema, surrogate} from './document.js'

export const jsonTypes = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type JsonType = (typeof jsonTypes)[number]

type Check = (value: unknown) => string | undefined

const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isObject(value)
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0

const check =
  (isValid: (value: unknown) => boolean, fault: string): Check =>
  (value) =>
    isValid(value) ? undefined : fault

/** The first fault that is found. */
const inTurn =
  (...each: readonly Check[]): Check =>
  (value) => {
    for (const found of each) {
      const fault = found(value)
      if (fault !== undefined) return fault
    }
    return undefined
  }

/** What no text of JSON stands for, at any depth: a number that is not finite, or half of a surrogate pair. */
const data: Check = (value) => {
  const parts = [value]
  for (const part of parts) {
    if (typeof part === 'number' && !Number.isFinite(part)) return 'has a number that is too large'
    if (typeof part === 'string' && surrogate.test(part)) return 'has half of a surrogate pair'
    if (typeof part === 'object' && part !== null) for (const pair of Object.entries(part)) parts.push(...pair)
  }
  return undefined
}
const names: Check = (value) => data(Object.keys(value as object))

const schema = check(isSchema, 'is not a schema')
const schemas = check(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'is not a list of schemas',
)
const schemaMap = inTurn(
  check((value) => isObject(value) && Object.values(value).every(isSchema), 'is not an object of schemas'),
  names,
)
const count = check(isCount, 'is not a whole number')
const number = check((value) => Number.isFinite(value), 'is not a number')
const boolean = check((value) => typeof value === 'boolean', 'is not a boolean')
const text = check((value) => typeof value === 'string', 'is not a string')
const strings = inTurn(check(isStrings, 'is not a list of strings'), data)
const limit = check((value) => typeof value === 'boolean' || Number.isFinite(value), 'is not a number')
const types = check((value) => {
  const names = [value].flat()
  return (
    names.length > 0 && names.every((name) => name === 'integer' || (jsonTypes as readonly unknown[]).includes(name))
  )
}, 'is not a type of JSON')

/** The keywords that restrict values, with a check of their own value. All others are annotations. */
const checks: Readonly<Record<string, Check>> = {
  type: types,
  const: data,
  enum: inTurn(check(Array.isArray, 'is not a list'), data),
  minimum: number,
  maximum: number,
  exclusiveMinimum: limit,
  exclusiveMaximum: limit,
  multipleOf: check((value) => Number.isFinite(value) && (value as number) > 0, 'is not a positive number'),
  minLength: count,
  maxLength: count,
  pattern: text,
  minItems: count,
  maxItems: count,
  uniqueItems: boolean,
  minContains: count,
  maxContains: count,
  contains: schema,
  prefixItems: schemas,
  items: (value) => (Array.isArray(value) && value.every(isSchema) ? undefined : schema(value)),
  additionalItems: schema,
  unevaluatedItems: schema,
  minProperties: count,
  maxProperties: count,
  required: strings,
  properties: schemaMap,
  patternProperties: schemaMap,
  additionalProperties: schema,
  propertyNames: schema,
  unevaluatedProperties: schema,
  dependentRequired: inTurn(
    check((value) => isObject(value) && Object.values(value).every(isStrings), 'is not an object of lists'),
    data,
  ),
  dependentSchemas: schemaMap,
  dependencies: inTurn(
    check(
      (value) => isObject(value) && Object.values(value).every((each) => isSchema(each) || isStrings(each)),
      'is not an object of schemas and lists',
    ),
    names,
    (value) => data(Object.values(value as object).filter(Array.isArray)),
  ),
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
}

/** Keywords that restrict values without a check of their own. */
const unchecked = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'format'])

/** True if a keyword restricts values. */
export const isAssertion = (keyword: string): boolean =>
  Object.hasOwn(checks, keyword) || unchecked.has(keyword) || isInternal(keyword)

/** Values of an enumeration, as many as choices. */
const maxValues = 10_000

/** Throws `schema_invalid` if the value of a keyword has a wrong type, or does not fit another keyword; `schema_too_large`. */
export function checkKeywords(schema: Subschema): void {
  const {keywords, resource} = schema
  const invalid = (keyword: string, fault: string) =>
    new SvcError('schema_invalid', {...placeOf(schema, keyword), fault})
  for (const [keyword, value] of Object.entries(keywords)) {
    const fault = Object.hasOwn(checks, keyword) ? checks[keyword]!(value) : undefined
    if (fault !== undefined) throw invalid(keyword, fault)
  }
  if (Array.isArray(keywords.enum) && keywords.enum.length > maxValues)
    throw tooLarge(schema, 'enum', `${maxValues} values`)
  if (resource.draft === 2020 && keywords.prefixItems !== undefined && Array.isArray(keywords.items))
    throw invalid('items', 'is a list next to prefixItems')
}

export const unsupported = (schema: Subschema, keyword: string, reason: string): SvcError =>
  new SvcError('schema_keyword_unsupported', {...placeOf(schema, keyword), reason})

export const tooLarge = (schema: Subschema, keyword: string, limit: string): SvcError =>
  new SvcError('schema_too_large', {...placeOf(schema, keyword), limit})

/** Where the document has a keyword, or the one that it replaces. */
const placeOf = ({pointer, replaces}: Subschema, keyword: string) => {
  const own = replaces ?? keyword
  return {keyword: own, pointer: pointerTo(pointer, own)}
}
