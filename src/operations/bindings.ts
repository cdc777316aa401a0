import type {Schema} from '../contracts/index.js'
import type {Renames} from './operation.js'
import {partOf} from './schema.js'

/** An input schema as a face shows it. */
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
 * The schema of an operation's input under the names of a face. A member of a member is required here where it cannot
 * be left out there, neither itself nor what it is a member of.
 * @throws TypeError where a name stands for nothing, or for two members, or a member is missed: faults of the table
 */
export function bindingSchema(input: Schema, {renames = {}, hidden = [], required = []}: BindingNames): Schema {
  const {required: _, ...rest} = input as ObjectSchema
  const {properties = {}, required: demanded = []} = input as ObjectSchema
  const renamed = Object.entries(renames)
  const gone = new Set([...hidden, ...renamed.map(([, path]) => path.split('.')[0] ?? path)])
  const kept = Object.entries(properties).filter(([name]) => !gone.has(name))
  const named = renamed.map(([name, path]) => [name, schemaAt(input, path)] as const)
  const shown = [...kept, ...named].map(([name]) => name)
  const needed = new Set([
    ...demanded.filter((name) => !gone.has(name)),
    ...renamed.flatMap(([name, path]) => (isDemanded(input, path) ? [name] : [])),
    ...required,
  ])

  for (const name of hidden) {
    schemaAt(input, name)
    if (demanded.includes(name)) throw new TypeError(`${name} is required, and hidden`)
  }
  for (const name of required) if (!shown.includes(name)) throw new TypeError(`no member ${name} to be required`)
  if (new Set(shown).size < shown.length) throw new TypeError(`one name for two members: ${shown.join(', ')}`)
  return {
    ...rest,
    properties: Object.fromEntries([...kept, ...named]),
    ...(needed.size === 0 ? {} : {required: [...needed]}),
  }
}

function schemaAt(input: Schema, path: string): Schema {
  const found = path.split('.').reduce<Schema | undefined>(memberOf, input)
  if (found === undefined) throw new TypeError(`no member ${path} in the input`)
  return found
}

function memberOf(schema: Schema | undefined, name: string): Schema | undefined {
  const {properties = {}} = (schema ?? {}) as ObjectSchema
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

function isDemanded(input: Schema, path: string): boolean {
  const steps = path.split('.')
  return steps.every((name, i) => {
    const parent = steps.slice(0, i).reduce<Schema | undefined>(memberOf, input)
    return (parent as ObjectSchema | undefined)?.required?.includes(name) === true
  })
}

/** The input of an operation, from what came under the names of a face. */
export function toInput(given: Readonly<Record<string, unknown>>, renames: Renames = {}): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const path = (Object.hasOwn(renames, name) ? renames[name] : undefined)?.split('.') ?? [name]
    const last = path.pop() as string
    let target = input
    for (const step of path) {
      target[step] ??= {}
      target = target[step] as Record<string, unknown>
    }
    // An assignment to `__proto__` would put members into the input that no schema has seen.
    Object.defineProperty(target, last, {value, configurable: true, enumerable: true, writable: true})
  }
  return input
}

/**
 * A schema as it is listed to a model, where every word costs: without what only refuses, such as limits of length that
 * are hardly ever met. Calls are held to the whole schema all the same, and told what they break.
 * @param unlisted members that are left out as well
 */
export function listedSchema(schema: Schema, unlisted: readonly string[] = []): Schema {
  const {properties, ...rest} = partOf(schema) as ObjectSchema
  if (properties === undefined) return withoutLimits(rest)
  const listed = Object.entries(properties).filter(([name]) => !unlisted.includes(name))
  return withoutLimits({...rest, properties: Object.fromEntries(listed)})
}

const limits: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'maxItems', 'maxProperties'])

/** Keywords whose value is a schema, several, or several by name. */
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
  const kept = Object.entries(schema).filter(([keyword, value]) => !limits.has(keyword) && !isClosing(keyword, value))
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, nesting[keyword]?.(value as never) ?? value]))
}

/** Members that nobody has named, and numbers that nobody could write. */
const isClosing = (keyword: string, value: unknown): boolean =>
  (keyword === 'additionalProperties' && value === false) ||
  (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER)

function eachWithoutLimits(schemas: Readonly<Record<string, Schema>>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutLimits(schema)]))
}
