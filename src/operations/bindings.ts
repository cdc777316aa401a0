import type {Schema} from '../contracts/index.js'
import type {Renames} from './operation.js'
import {partOf} from './schema.js'

/** How a binding presents the input schema of an operation. */
export interface BindingNames {
  renames?: Renames | undefined
  hidden?: readonly string[] | undefined
  required?: readonly string[] | undefined
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/**
 * The input schema of an operation under the names of a binding. A nested member is required if it and its parents are.
 * @throws TypeError if a name refers to no member, two members have the same name, or a required member is hidden:
 *   errors in the table
 */
export function bindingSchema(input: Schema, {renames = {}, hidden = [], required = []}: BindingNames): Schema {
  const {required: _, ...rest} = input as ObjectSchema
  const {properties = {}, required: requiredInput = []} = input as ObjectSchema
  const renamed = Object.entries(renames)
  const omitted = new Set([...hidden, ...renamed.map(([, path]) => path.split('.')[0] ?? path)])
  const unchanged = Object.entries(properties).filter(([name]) => !omitted.has(name))
  const members = [...unchanged, ...renamed.map(([name, path]) => [name, schemaAt(input, path)] as const)]
  const names = members.map(([name]) => name)
  const requiredNames = new Set([
    ...requiredInput.filter((name) => !omitted.has(name)),
    ...renamed.flatMap(([name, path]) => (isRequired(input, path) ? [name] : [])),
    ...required,
  ])

  for (const name of hidden) {
    schemaAt(input, name)
    if (requiredInput.includes(name)) throw new TypeError(`${name} is both required and hidden`)
  }
  for (const name of required) if (!names.includes(name)) throw new TypeError(`required member ${name} does not exist`)
  if (new Set(names).size < names.length) throw new TypeError(`two members have the same name: ${names.join(', ')}`)
  return {
    ...rest,
    properties: Object.fromEntries(members),
    ...(requiredNames.size === 0 ? {} : {required: [...requiredNames]}),
  }
}

function schemaAt(input: Schema, path: string): Schema {
  const found = path.split('.').reduce<Schema | undefined>(memberOf, input)
  if (found === undefined) throw new TypeError(`the input has no member ${path}`)
  return found
}

function memberOf(schema: Schema | undefined, name: string): Schema | undefined {
  const {properties = {}} = (schema ?? {}) as ObjectSchema
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

function isRequired(input: Schema, path: string): boolean {
  const steps = path.split('.')
  return steps.every((name, i) => {
    const parent = steps.slice(0, i).reduce<Schema | undefined>(memberOf, input)
    return (parent as ObjectSchema | undefined)?.required?.includes(name) === true
  })
}

/** Converts parameters with the names of a binding to the input of an operation. */
export function toInput(params: Readonly<Record<string, unknown>>, renames: Renames = {}): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    const path = (Object.hasOwn(renames, name) ? renames[name] : undefined)?.split('.') ?? [name]
    const last = path.pop() as string
    let target = input
    for (const step of path) {
      target[step] ??= {}
      target = target[step] as Record<string, unknown>
    }
    // Assigning to `__proto__` would add members to the input that no schema has checked.
    Object.defineProperty(target, last, {value, configurable: true, enumerable: true, writable: true})
  }
  return input
}

/**
 * A shorter schema to list to models, which pay for every token. It omits constraints that are rarely violated, such as
 * length limits. Calls are still validated against the full schema.
 * @param unlisted members to omit as well; nested members with a dot
 */
export const listedSchema = (schema: Schema, unlisted: readonly string[] = []): Schema =>
  withoutLimits(withoutMembers(partOf(schema) as ObjectSchema, unlisted))

function withoutMembers({properties, ...rest}: ObjectSchema, names: readonly string[]): Schema {
  if (properties === undefined) return rest
  const left = Object.entries(properties).filter(([name]) => !names.includes(name))
  const members = left.map(([name, member]) => {
    const below = names.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1))
    return [name, below.length === 0 ? member : withoutMembers(member as ObjectSchema, below)]
  })
  return {...rest, properties: Object.fromEntries(members)}
}

const limits: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'maxItems', 'maxProperties'])

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const nesting: Readonly<Record<string, (value: never) => unknown>> = {
  items: withoutLimits,
  additionalProperties: (value: Schema | boolean) => (typeof value === 'boolean' ? value : withoutLimits(value)),
  properties: eachWithoutLimits,
  $defs: eachWithoutLimits,
  anyOf: (value: readonly Schema[]) => value.map(withoutLimits),
  oneOf: (value: readonly Schema[]) => value.map(withoutLimits),
  allOf: (value: readonly Schema[]) => value.map(withoutLimits),
}

function withoutLimits(schema: Schema): Schema {
  const listed = Object.entries(schema).filter(([keyword, value]) => !limits.has(keyword) && !isTrivial(keyword, value))
  return Object.fromEntries(listed.map(([keyword, value]) => [keyword, nesting[keyword]?.(value as never) ?? value]))
}

/** Constraints that a model does not need: no unknown members, positive numbers, the largest safe integer as maximum. */
const isTrivial = (keyword: string, value: unknown): boolean =>
  (keyword === 'additionalProperties' && value === false) ||
  (keyword === 'minimum' && (value === 0 || value === 1)) ||
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER)

function eachWithoutLimits(schemas: Readonly<Record<string, Schema>>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutLimits(schema)]))
}
