import type {Schema} from '../contracts/index.js'

/**
 * Schemas as a list of tools shows them. A model reads the list before every conversation, so it holds what a caller
 * needs to know and leaves out what only refuses: a call is held to the whole schema all the same.
 */

/** How much fits, and not what. */
const sizes = new Set(['minLength', 'maxLength', 'maxItems', 'maxProperties'])

/** An input without its name as a contract and without limits that no sensible caller meets. */
export function listedInput({$schema: _, $id: __, title: ___, description: ____, ...schema}: Schema): Schema {
  return withoutSizes(schema) as Schema
}

function withoutSizes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSizes)
  if (typeof value !== 'object' || value === null) return value
  const isSize = (name: string, member: unknown) =>
    typeof member === 'number' && (sizes.has(name) || (name === 'maximum' && member === Number.MAX_SAFE_INTEGER))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !isSize(name, member))
      .map(([name, member]) => [name, withoutSizes(member)]),
  )
}

/** An output as deep as its first members: which there are, and of what type. */
export function listedOutput({type, properties}: Schema): Schema {
  return {
    ...(type === undefined ? {} : {type}),
    ...(properties === undefined ? {} : {properties: mapValues(properties as Record<string, Schema>, memberType)}),
  }
}

const memberType = ({type, enum: words}: Schema): Schema => {
  if (words !== undefined) return {enum: words}
  return type === undefined ? {} : {type}
}

const mapValues = <T, R>(members: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]))
