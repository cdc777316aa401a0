import {isObject} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {type JsonObject, pointerTo} from './document.js'

const maxProperties = 5000
const maxDepth = 10

const mapKeywords = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']
const listKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const schemaKeywords = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'unevaluatedItems']
/** Keywords that strict mode of OpenAI does not have. */
const forbidden = [
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
]

/**
 * Checks the rules of OpenAI for `strict: true` (developers.openai.com, "Structured outputs", supported schemas). The
 * schema is an object without `anyOf`. Each object lists all its properties as required and allows no others. The
 * maximum is 10 levels of objects and 5000 properties. Throws `schema_not_strict` with keyword and pointer.
 */
export function checkStrict(schema: unknown): void {
  if (!isObject(schema) || schema.type !== 'object') throw notStrict('#', 'type', 'must be object')
  if (schema.anyOf !== undefined) throw notStrict('#', 'anyOf', 'is not allowed at the top')
  const properties = checkObjects(schema, '#', 0)
  if (properties > maxProperties)
    throw notStrict('#', 'properties', `has ${properties} names, more than ${maxProperties}`)
}

/** Checks a schema and those in it; returns the number of properties. */
function checkObjects(schema: unknown, pointer: string, depth: number): number {
  if (!isObject(schema)) return 0
  const keyword = forbidden.find((each) => schema[each] !== undefined)
  if (keyword !== undefined) throw notStrict(pointer, keyword, 'is not allowed')
  const isObjectSchema = [schema.type].flat().includes('object') || schema.properties !== undefined
  if (isObjectSchema) checkObject(schema, pointer)
  if (isObjectSchema && depth >= maxDepth)
    throw notStrict(pointer, 'properties', `is nested more than ${maxDepth} times`)
  const inner = depth + (isObjectSchema ? 1 : 0)
  const parts = [
    ...mapKeywords.flatMap((each) =>
      Object.entries(isObject(schema[each]) ? schema[each] : {}).map(([name, part]) => {
        return {part, path: [each, name], depth: each === 'properties' ? inner : 0}
      }),
    ),
    ...listKeywords.flatMap((each) =>
      (Array.isArray(schema[each]) ? schema[each] : []).map((part: unknown, index) => {
        return {part, path: [each, index], depth: inner}
      }),
    ),
    ...schemaKeywords.map((each) => ({part: schema[each], path: [each], depth: inner})),
  ]
  const own = Object.keys(isObject(schema.properties) ? schema.properties : {}).length
  return parts.reduce((sum, each) => sum + checkObjects(each.part, pointerTo(pointer, ...each.path), each.depth), own)
}

function checkObject({properties, required, additionalProperties}: JsonObject, pointer: string): void {
  if (additionalProperties !== false) throw notStrict(pointer, 'additionalProperties', 'must be false')
  const names = Object.keys(isObject(properties) ? properties : {})
  const listed: readonly unknown[] = Array.isArray(required) ? required : []
  const missing = names.find((name) => !listed.includes(name))
  if (missing !== undefined) throw notStrict(pointer, 'required', `must list ${missing}`)
}

const notStrict = (pointer: string, keyword: string, rule: string): SvcError =>
  new SvcError('schema_not_strict', {keyword, pointer: pointerTo(pointer, keyword), rule})
