import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {JsonObject, SchemaDocument, Subschema} from './document.js'
import {formatPattern, unenforcedFormats} from './formats.js'
import {checkKeywords, isAssertion, jsonTypes, unsupported} from './keywords.js'

/** The schemas of which a value must have one if it is invalid for a keyword; undefined if they cannot be written. */
type Negation = (value: never, keywords: JsonObject) => JsonObject[] | undefined

const negated = (schema: unknown): JsonObject => ({not: schema})

/**
 * Internal keywords that only negations use: `svc excluded` (values), `svc otherPattern`, `svc otherFormat` and
 * `svc fractional`.
 */
const negations: Readonly<Record<string, Negation>> = {
  type: (value: string | string[]) => {
    const names = new Set([value].flat())
    const others = jsonTypes.filter((type) => !names.has(type) && !(type === 'number' && names.has('integer')))
    return [
      ...(others.length > 0 ? [{type: others}] : []),
      ...(names.has('integer') && !names.has('number') ? [{type: 'number', 'svc fractional': true}] : []),
    ]
  },
  enum: (values: unknown[]) => excluded(values),
  const: (value: unknown) => excluded([value]),
  minimum: (value: number, {exclusiveMinimum}) =>
    exclusiveMinimum === true ? [{type: 'number', maximum: value}] : [{type: 'number', exclusiveMaximum: value}],
  maximum: (value: number, {exclusiveMaximum}) =>
    exclusiveMaximum === true ? [{type: 'number', minimum: value}] : [{type: 'number', exclusiveMinimum: value}],
  exclusiveMinimum: (value: number | boolean) => (typeof value === 'boolean' ? [] : [{type: 'number', maximum: value}]),
  exclusiveMaximum: (value: number | boolean) => (typeof value === 'boolean' ? [] : [{type: 'number', minimum: value}]),
  minLength: (value: number) => (value === 0 ? [] : [{type: 'string', maxLength: value - 1}]),
  maxLength: (value: number) => [{type: 'string', minLength: value + 1}],
  pattern: (value: string) => [{type: 'string', 'svc otherPattern': value}],
  format: (value: unknown) => {
    if (unenforcedFormats.has(value)) return undefined
    return formatPattern(value) === undefined ? [] : [{type: 'string', 'svc otherFormat': value}]
  },
  minItems: (value: number) => (value === 0 ? [] : [{type: 'array', maxItems: value - 1}]),
  maxItems: (value: number) => [{type: 'array', minItems: value + 1}],
  prefixItems: (values: unknown[]) => tuple(values),
  items: (value: unknown, {prefixItems}) => {
    if (Array.isArray(value)) return tuple(value)
    return prefixItems === undefined ? [{type: 'array', contains: negated(value)}] : undefined
  },
  contains: (value: unknown, {minContains, maxContains}) =>
    minContains === undefined && maxContains === undefined ? [{type: 'array', items: negated(value)}] : undefined,
  minContains: () => [],
  uniqueItems: (value: boolean) => (value ? undefined : []),
  required: (names: string[]) => names.map((name) => ({type: 'object', properties: {[name]: false}})),
  properties: (properties: JsonObject) =>
    Object.entries(properties).flatMap(([name, schema]) => (schema === true ? [] : [property(name, negated(schema))])),
  minProperties: (value: number) => (value === 0 ? [] : [{type: 'object', maxProperties: value - 1}]),
  maxProperties: (value: number) => [{type: 'object', minProperties: value + 1}],
  dependentRequired: (dependencies: JsonObject) => dependent(dependencies),
  dependentSchemas: (dependencies: JsonObject) => dependent(dependencies),
  dependencies: (dependencies: JsonObject) => dependent(dependencies),
  allOf: (schemas: unknown[]) => schemas.map(negated),
  anyOf: (schemas: unknown[]) => [{allOf: schemas.map(negated)}],
  oneOf: (schemas: unknown[]) => {
    if (schemas.length > 8) return undefined
    const pairs = schemas.flatMap((a, i) => schemas.slice(i + 1).map((b) => ({allOf: [a, b]})))
    return [{allOf: schemas.map(negated)}, ...pairs]
  },
  not: (schema: unknown) => [{allOf: [schema]}],
  if: (condition: unknown, keywords) => [
    ...('then' in keywords ? [{allOf: [condition, negated(keywords.then)]}] : []),
    ...('else' in keywords ? [{allOf: [negated(condition), negated(keywords.else)]}] : []),
  ],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: () => [],
  else: () => [],
  additionalProperties: (value: unknown) => (value === true ? [] : undefined),
  additionalItems: (value: unknown) => (value === true ? [] : undefined),
}

const property = (name: string, schema: unknown): JsonObject => ({
  type: 'object',
  required: [name],
  properties: {[name]: schema},
})

/** Arrays of which some item is wrong for its place. */
const tuple = (schemas: readonly unknown[]): JsonObject[] =>
  schemas.map((schema, index) => ({
    type: 'array',
    minItems: index + 1,
    prefixItems: [...Array.from({length: index}, () => true), negated(schema)],
  }))

const dependent = (dependencies: JsonObject): JsonObject[] =>
  Object.entries(dependencies).flatMap(([name, value]): JsonObject[] =>
    Array.isArray(value)
      ? value.map((other) => ({type: 'object', required: [name], properties: {[other as string]: false}}))
      : [{type: 'object', required: [name], allOf: [negated(value)]}],
  )

function excluded(values: readonly unknown[]): JsonObject[] | undefined {
  if (!values.some((value) => typeof value === 'object' && value !== null)) return [{'svc excluded': values}]
  const [only] = values
  if (values.length > 1 || !isObject(only)) return undefined
  if (Object.keys(only).length === 0)
    return [{type: jsonTypes.filter((type) => type !== 'object')}, {minProperties: 1, type: 'object'}]
  return undefined
}

/** The schema of the values that are invalid for a schema; undefined if there are none. Throws `schema_invalid`, and `schema_keyword_unsupported` if it cannot be written. */
export function negation(document: SchemaDocument, schema: Subschema, negatedBy: Subschema): JsonObject | undefined {
  checkKeywords(schema)
  const {keywords} = schema
  const options: JsonObject[] = []
  for (const [keyword, value] of Object.entries(keywords)) {
    if (keyword === '$ref' || keyword === '$dynamicRef' || keyword === '$recursiveRef') {
      options.push(negated(document.resolve(schema, keyword).keywords))
    } else if (isAssertion(keyword)) {
      const negate = negations[keyword] as
        | ((value: unknown, keywords: JsonObject) => JsonObject[] | undefined)
        | undefined
      const schemas = negate?.(value, keywords)
      if (schemas === undefined)
        throw unsupported(schema, keyword, `its negation, for ${negatedBy.pointer}, cannot be written`)
      for (const each of schemas) document.replace(schema.replaces ?? keyword, each)
      options.push(...schemas)
    }
  }
  return options.length === 0 ? undefined : {anyOf: options}
}

export const isRefused = (error: unknown): boolean =>
  error instanceof SvcError &&
  (error.code === 'schema_keyword_unsupported' ||
    error.code === 'schema_too_large' ||
    error.code === 'pattern_unsupported')
