import type {Schema} from './catalogue.js'

/** The keywords of a plain schema; annotations do not constrain a value. */
interface PlainSchema {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  items?: Schema
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  additionalProperties?: boolean | Schema
}

const annotations = ['$schema', '$id', 'title', 'description', 'default']
const keywords = [
  ...['type', 'enum', 'const', 'minimum', 'maximum', 'minLength', 'maxLength', 'maxItems', 'items'],
  ...['required', 'properties', 'additionalProperties'],
]
const known: ReadonlySet<string> = new Set([...annotations, ...keywords])

/**
 * Violations of a plain schema, one line each, as `contractViolations` words them; empty if the value is valid. It is
 * synchronous and loads no validator, so that it can be used in a transaction and on a command that must start fast.
 * @throws TypeError if the schema has a keyword that is not supported: a programming error
 */
export function plainViolations(schema: Schema, value: unknown): string[] {
  return violationsAt(schema, value, '')
}

function violationsAt(schema: Schema, value: unknown, pointer: string): string[] {
  const unsupported = Object.keys(schema).find((keyword) => !known.has(keyword))
  if (unsupported !== undefined) throw new TypeError(`the keyword ${unsupported} is not supported`)
  const plain = schema as PlainSchema
  const place = pointer === '' ? 'the document' : pointer
  const types = [plain.type ?? []].flat()
  const found: string[] = []
  const add = (message: string) => found.push(`${place} ${message}`)
  if (types.length > 0 && !types.some((type) => hasType(type, value))) add(`must be ${types.join(',')}`)
  if (plain.enum !== undefined && !plain.enum.includes(value)) add(`must be one of ${JSON.stringify(plain.enum)}`)
  if ('const' in plain && plain.const !== value) add(`must be ${JSON.stringify(plain.const)}`)
  for (const fault of limitsOf(plain, value)) add(fault)
  return [...found, ...violationsInside(plain, value, pointer, place)]
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return isObject(value)
  if (type === 'number') return Number.isFinite(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function* limitsOf({minimum, maximum, minLength = 0, maxLength, maxItems}: PlainSchema, value: unknown) {
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (minimum !== undefined && value < minimum) yield `must be >= ${minimum}`
    if (maximum !== undefined && value > maximum) yield `must be <= ${maximum}`
  }
  if (typeof value === 'string') {
    if (lengthOf(value) < minLength) yield `must NOT have fewer than ${minLength} characters`
    if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength)
      yield `must NOT have more than ${maxLength} characters`
  }
  if (Array.isArray(value) && maxItems !== undefined && value.length > maxItems)
    yield `must NOT have more than ${maxItems} items`
}

function violationsInside(schema: PlainSchema, value: unknown, pointer: string, place: string): string[] {
  const {items, required = [], properties = {}, additionalProperties: others = true} = schema
  if (Array.isArray(value))
    return items === undefined ? [] : value.flatMap((item, i) => violationsAt(items, item, `${pointer}/${i}`))
  if (!isObject(value)) return []
  const missing = required.filter((name) => !Object.hasOwn(value, name) || value[name] === undefined)
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const schemaOfMember = Object.hasOwn(properties, name) ? properties[name] : others
    if (schemaOfMember === false) return [`${place} has an unknown member "${name}"`]
    if (schemaOfMember === undefined || schemaOfMember === true || member === undefined) return []
    return violationsAt(schemaOfMember, member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  })
  return [...missing.map((name) => `${place} must have required property '${name}'`), ...inside]
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Number of code points, which the limits of JSON Schema count. */
const lengthOf = (text: string): number => [...text].length
