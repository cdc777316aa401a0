import type {Schema} from '../contracts/index.js'
import type {Renames} from './operation.js'

/** An input schema as a face shows it. */
export interface FaceNames {
  renames?: Renames | undefined
  hidden?: readonly string[] | undefined
  required?: readonly string[] | undefined
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/**
 * The schema of an operation's input under the names of a face.
 * @throws TypeError where a name stands for nothing: a fault of the table
 */
export function faceSchema(input: Schema, {renames = {}, hidden = [], required = []}: FaceNames): Schema {
  const {properties = {}, required: demanded = []} = input as ObjectSchema
  const gone = new Set([...hidden, ...Object.values(renames).map((path) => path.split('.')[0] ?? path)])
  const kept = Object.entries(properties).filter(([name]) => !gone.has(name))
  const named = Object.entries(renames).map(([name, path]) => [name, schemaAt(input, path)] as const)
  const needed = new Set([
    ...demanded.filter((name) => !gone.has(name)),
    ...Object.entries(renames).flatMap(([name, path]) => (demanded.includes(path) ? [name] : [])),
    ...required,
  ])
  return {
    ...input,
    properties: Object.fromEntries([...kept, ...named]),
    ...(needed.size === 0 ? {} : {required: [...needed]}),
  }
}

function schemaAt(input: Schema, path: string): Schema {
  const found = path
    .split('.')
    .reduce<Schema | undefined>((schema, name) => (schema as ObjectSchema | undefined)?.properties?.[name], input)
  if (found === undefined) throw new TypeError(`no member ${path} in the input`)
  return found
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
    target[last] = value
  }
  return input
}
