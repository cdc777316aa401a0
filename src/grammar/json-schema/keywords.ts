import {SvcError} from '../../errors/index.js'
import {isObject, pointerTo, type Subschema} from './document.js'

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

const schema = check(isSchema, 'is not a schema')
const schemas = check(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  'is not a list of schemas',
)
const schemaMap = check(
  (value) => isObject(value) && Object.values(value).every(isSchema),
  'is not an object of schemas',
)
const count = check(isCount, 'is not a whole number')
const number = check((value) => Number.isFinite(value), 'is not a number')
const boolean = check((value) => typeof value === 'boolean', 'is not a boolean')
const text = check((value) => typeof value === 'string', 'is not a string')
const strings = check(isStrings, 'is not a list of strings')
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
  enum: check(Array.isArray, 'is not a list'),
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
  dependentRequired: check(
    (value) => isObject(value) && Object.values(value).every(isStrings),
    'is not an object of lists',
  ),
  dependentSchemas: schemaMap,
  dependencies: check(
    (value) => isObject(value) && Object.values(value).every((each) => isSchema(each) || isStrings(each)),
    'is not an object of schemas and lists',
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
const unchecked = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'const', 'format'])

/** True if a keyword restricts values. */
export const isAssertion = (keyword: string): boolean =>
  Object.hasOwn(checks, keyword) || unchecked.has(keyword) || keyword.startsWith('svc ')

/** Throws `schema_invalid` if the value of a keyword has a wrong type. */
export function checkKeywords({keywords, pointer}: Subschema): void {
  for (const [keyword, value] of Object.entries(keywords)) {
    const fault = Object.hasOwn(checks, keyword) ? checks[keyword]!(value) : undefined
    if (fault !== undefined)
      throw new SvcError('schema_invalid', {keyword, pointer: pointerTo(pointer, keyword), fault})
  }
}

export const unsupported = ({pointer}: Subschema, keyword: string, reason: string): SvcError =>
  new SvcError('schema_keyword_unsupported', {keyword, pointer: pointerTo(pointer, keyword), reason})

export const tooLarge = ({pointer}: Subschema, keyword: string, limit: string): SvcError =>
  new SvcError('schema_too_large', {keyword, pointer: pointerTo(pointer, keyword), limit})
