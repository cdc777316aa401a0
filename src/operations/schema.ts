import type {Schema} from '../contracts/index.js'

/** As `maxDurationMs` of the settings, which the definitions do not load. */
export const maxDurationMs = 365_250 * 86_400_000

/** Builders for the JSON Schemas of the table. An object has no other members unless it is `open`. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  {required = [], open = false}: {required?: readonly string[]; open?: boolean} = {},
): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : {required}),
  ...(open ? {} : {additionalProperties: false}),
})

const described = (description: string | undefined) => (description === undefined ? {} : {description})

export const text = (description?: string, limits: {minLength?: number; maxLength?: number} = {}): Schema => ({
  type: 'string',
  ...limits,
  ...described(description),
})

export const integer = (
  description?: string,
  limits: {minimum?: number; maximum?: number; default?: number} = {},
): Schema => ({type: 'integer', ...limits, ...described(description)})

export const number = (description?: string, limits: {minimum?: number; maximum?: number} = {}): Schema => ({
  type: 'number',
  ...limits,
  ...described(description),
})

export const flag = (description?: string): Schema => ({type: 'boolean', ...described(description)})

export const oneOf = (values: readonly string[], description?: string): Schema => ({
  enum: values,
  ...described(description),
})

export const list = (items: Schema, description?: string, limits: {maxItems?: number} = {}): Schema => ({
  type: 'array',
  items,
  ...limits,
  ...described(description),
})

export const taskId = integer(undefined, {minimum: 1})

export const agentId: Schema = {
  type: ['integer', 'string'],
  description: 'Agent: its name, or its id such as A-03.',
}

/** A contract as a part of another schema, without the identity and description of the document. */
export function partOf({$schema: _, $id: __, title: ___, description: ____, ...schema}: Schema): Schema {
  return schema
}
